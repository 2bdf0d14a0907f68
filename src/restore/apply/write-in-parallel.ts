import { availableParallelism } from 'node:os';
import type { FileSystem } from '../../platform/file-system.ts';
import { startWorker, type WorkerThread } from '../../platform/worker.ts';
import { codeOf } from './failure.ts';
import type { WorkspaceTree } from './workspace-tree.ts';
import { pathsOf, type WriteFailure, type WriteOrder, writeBatch } from './write-batch.ts';

/** What a thread says when it has done an order: the failures, or what ended it. */
export type WriteAnswer =
  | { readonly kind: 'written'; readonly failures: readonly WriteFailure[] }
  | { readonly kind: 'broken'; readonly message: string };

/** Orders that wait at each thread, so that it has work while the next is prepared. */
const QUEUE = 2;
const MOST_THREADS = 3;

export interface ParallelWriting extends AsyncDisposable {
  /** Has an order carried out, here or by another thread, now or soon. */
  write(order: WriteOrder): void;
  /** Resolves when all is done. Gives what could not be written. */
  finish(): Promise<readonly WriteFailure[]>;
}

/** A thread less than there are cores. */
export function spareThreads(): number {
  return Math.min(availableParallelism() - 1, MOST_THREADS);
}

/**
 * Writes on this thread and on `threads` others. What a thread that ended had to do is done here. Whoever watches each call of `fs` sees none of
 * those that other threads make.
 */
export function writeInParallel(
  tree: WorkspaceTree,
  fs: FileSystem,
  threads: number,
  entry = 'write-files',
): ParallelWriting {
  const failures: WriteFailure[] = [];
  let others = Array.from({ length: threads }, () => startWorker(entry))
    .filter((worker) => worker !== undefined)
    .map((worker) => ({ worker, given: [] as WriteOrder[] }));

  function collect(): void {
    for (const { worker, given } of others) {
      for (let answer = worker.take(); answer !== undefined; answer = worker.take()) {
        take(answer as WriteAnswer, given.shift() as WriteOrder);
      }
    }
    const ended = others.filter(({ worker }) => worker.isDead);
    others = others.filter(({ worker }) => !worker.isDead);
    for (const { given } of ended) for (const order of given) again(order);
  }

  function take(answer: WriteAnswer, order: WriteOrder): void {
    if (answer.kind === 'written') failures.push(...answer.failures);
    else again(order);
  }

  /** Nobody knows how far it came. What is at its paths is its own: the directories are new. */
  function again(order: WriteOrder): void {
    for (const path of pathsOf(order)) {
      try {
        fs.unlink(tree.locate(path));
      } catch (error) {
        if (codeOf(error) !== 'ENOENT') throw error;
      }
    }
    failures.push(...writeBatch(order, tree, fs));
  }

  async function drain(): Promise<void> {
    for (collect(); others.some(({ given }) => given.length > 0); collect()) {
      await Promise.race(busy(others).map((worker) => worker.wait()));
    }
  }

  return {
    write(order) {
      collect();
      const free = others.find(({ given }) => given.length < QUEUE);
      if (free === undefined) {
        failures.push(...writeBatch(order, tree, fs));
        return;
      }
      free.given.push(order);
      free.worker.post(order);
    },
    async finish() {
      await drain();
      return failures;
    },
    [Symbol.asyncDispose]: async () => {
      // An end in the midst of a file would leave half of it.
      await drain();
      await Promise.all(others.map(({ worker }) => worker[Symbol.asyncDispose]()));
    },
  };
}

function busy(
  others: readonly { readonly worker: WorkerThread; readonly given: readonly WriteOrder[] }[],
): readonly WorkerThread[] {
  return others.filter(({ given }) => given.length > 0).map(({ worker }) => worker);
}
