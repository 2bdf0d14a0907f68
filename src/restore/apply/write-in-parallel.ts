import type { FileSystem } from '../../platform/file-system.ts';
import { startWorker } from '../../platform/worker.ts';
import { codeOf } from './failure.ts';
import type { WorkspaceTree } from './workspace-tree.ts';
import { pathsOf, type WriteFailure, type WriteOrder, writeBatch } from './write-batch.ts';

/** What a thread says when it has done an order: the failures, or what ended it. */
export type WriteAnswer =
  | { readonly kind: 'written'; readonly failures: readonly WriteFailure[] }
  | { readonly kind: 'broken'; readonly message: string };

/** Orders that wait at the thread, so that it has work while the next is prepared. */
const QUEUE = 4;

export interface ParallelWriting extends AsyncDisposable {
  /** Has an order carried out, now or soon; resolves when there is room for another. */
  write(order: WriteOrder): Promise<void>;
  /** Resolves when all is done. Gives what could not be written. */
  finish(): Promise<readonly WriteFailure[]>;
}

/**
 * Writes on another thread, or on this one where there is none, or not yet. Two that create files in one directory at a time would only wait for each
 * other, so there is no more than one that writes. What a thread that ended had to do is done here. Whoever watches each call of `fs` sees none of
 * those that the other thread makes.
 */
export function writeInParallel(
  tree: WorkspaceTree,
  fs: FileSystem,
  onThread: boolean,
  entry = 'write-files',
): ParallelWriting {
  const failures: WriteFailure[] = [];
  const given: WriteOrder[] = [];
  let worker = onThread ? startWorker(entry) : undefined;
  let hasAnswered = false;

  function collect(): void {
    for (let answer = worker?.take(); answer !== undefined; answer = worker?.take()) {
      hasAnswered = true;
      take(answer as WriteAnswer, given.shift() as WriteOrder);
    }
    if (!worker?.isDead) return;
    worker = undefined;
    for (const order of given.splice(0)) again(order);
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

  async function waitUntil(isEnough: () => boolean): Promise<void> {
    for (collect(); worker !== undefined && !isEnough(); collect()) await worker.wait();
  }

  const drain = () => waitUntil(() => given.length === 0);

  return {
    async write(order) {
      collect();
      if (worker !== undefined && hasAnswered) await waitUntil(() => given.length < QUEUE);
      if (worker === undefined || given.length >= QUEUE) {
        failures.push(...writeBatch(order, tree, fs));
        return;
      }
      given.push(order);
      worker.post(order);
    },
    async finish() {
      await drain();
      return failures;
    },
    [Symbol.asyncDispose]: async () => {
      // An end in the midst of a file would leave half of it.
      await drain();
      await worker?.[Symbol.asyncDispose]();
    },
  };
}
