import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { startWorker, type WorkerThread } from '../../platform/worker.ts';
import { DirectoryHandles } from './directory-handles.ts';
import { type BatchOrder, type BatchResult, readBatch } from './read-batch.ts';

/** A batch without its buffer. */
export type BatchPlan = Omit<BatchOrder, 'buffer'> & {
  /** of all contents */
  readonly bytes: number;
};

/** Batches that are described when they are wanted, always in the same way. */
export interface BatchPlans {
  readonly count: number;
  plan(number: number): BatchPlan;
}

/** Batches from which on another thread is worth its start (about 40 ms of processor time). */
const WORTH_A_THREAD = 12;
const MOST_THREADS = 3;
/** Batches that wait at each thread, so that it has work while the others are busy. */
const QUEUE = 3;
/** Batches read before they are asked for. */
const MOST_AHEAD = 8;
/** Buffers of at most this size are used again. */
const USUAL_BYTES = 1024 ** 2;

/**
 * Reads batches on this thread and on others, and gives the results in order; each is valid until the next is asked for. What a thread that ended
 * had to do is done here.
 */
export async function* readInParallel(
  batches: BatchPlans,
  threads = batches.count < WORTH_A_THREAD ? 0 : Math.min(availableParallelism() - 1, MOST_THREADS),
  entry = 'read-files',
): AsyncGenerator<BatchResult> {
  await using reading = new ParallelReading(batches, threads, entry);
  for (let at = 0; at < batches.count; at += 1) {
    const result = await reading.result(at);
    yield result;
    reading.release(result.buffer);
    await setImmediate();
  }
}

class ParallelReading implements AsyncDisposable {
  readonly #batches: BatchPlans;
  readonly #threads: { readonly worker: WorkerThread; readonly given: Set<number> }[] = [];
  readonly #handles = new DirectoryHandles();
  readonly #done = new Map<number, BatchResult>();
  readonly #spare: ArrayBuffer[] = [];
  /** of the batches that nobody was given yet, the first */
  #next = 0;

  constructor(batches: BatchPlans, threads: number, entry: string) {
    this.#batches = batches;
    for (let count = 0; count < threads; count += 1) {
      const worker = startWorker(entry);
      if (worker !== undefined) this.#threads.push({ worker, given: new Set() });
    }
  }

  async result(wanted: number): Promise<BatchResult> {
    for (;;) {
      this.#collect();
      const isPending = this.#threads.some(({ given }) => given.has(wanted));
      if (!isPending && !this.#done.has(wanted)) this.#readHere(wanted);
      this.#handOut(wanted);
      const result = this.#done.get(wanted);
      if (result !== undefined) {
        this.#done.delete(wanted);
        return result;
      }
      // Another thread has it: meanwhile the next one is read here, or there is nothing but to wait.
      if (this.#next < this.#batches.count && this.#next < wanted + MOST_AHEAD) this.#readHere(this.#next);
      else await Promise.race(this.#threads.map(({ worker }) => worker.wait()));
    }
  }

  release(buffer: ArrayBuffer): void {
    if (buffer.byteLength === USUAL_BYTES) this.#spare.push(buffer);
  }

  #readHere(number: number): void {
    this.#next = Math.max(this.#next, number + 1);
    this.#done.set(number, readBatch(this.#order(number), this.#handles));
  }

  #handOut(wanted: number): void {
    for (const { worker, given } of this.#threads) {
      while (given.size < QUEUE && this.#next < this.#batches.count && this.#next < wanted + MOST_AHEAD) {
        const order = this.#order(this.#next);
        given.add(this.#next);
        this.#next += 1;
        worker.post(order, [order.buffer]);
      }
    }
  }

  /** Takes what is done, and what ended threads leave undone. */
  #collect(): void {
    for (const thread of [...this.#threads]) {
      const { worker, given } = thread;
      for (let result = worker.take(); result !== undefined; result = worker.take()) {
        const { number } = result as BatchResult;
        given.delete(number);
        this.#done.set(number, result as BatchResult);
      }
      if (!worker.isDead) continue;
      this.#threads.splice(this.#threads.indexOf(thread), 1);
    }
  }

  #order(number: number): BatchOrder {
    const { bytes, ...plan } = this.#batches.plan(number);
    const usual = bytes <= USUAL_BYTES;
    return { ...plan, buffer: (usual && this.#spare.pop()) || new ArrayBuffer(usual ? USUAL_BYTES : bytes) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#handles[Symbol.dispose]();
    await Promise.all(this.#threads.map(({ worker }) => worker[Symbol.asyncDispose]()));
  }
}
