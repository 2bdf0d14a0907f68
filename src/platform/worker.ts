import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  type Transferable,
  Worker,
} from 'node:worker_threads';

/** A thread that lives as long as its owner wants it to, and keeps no process alive but while its owner waits for it. */
export interface WorkerThread extends AsyncDisposable {
  /** It ended by itself or by an error and does nothing more. */
  readonly isDead: boolean;
  post(message: unknown, transfer?: readonly Transferable[]): void;
  /** An answer that is there; undefined: none yet. */
  take(): unknown;
  /** Resolves when there may be an answer, or the thread has ended. */
  wait(): Promise<void>;
}

/**
 * Starts an entry of `src/workers/`, which may answer over the port that is its `workerData`; undefined where the process may start no thread.
 * Sources and bundle have their entries at the same place relative to this module. Files that a thread leaves open are closed when it ends.
 */
export function startWorker(name: string): WorkerThread | undefined {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const { port1: answers, port2: theirs } = new MessageChannel();
  const worker = create(new URL(`../workers/${name}.${extension}`, import.meta.url), theirs);
  if (worker === undefined) {
    answers.close();
    return undefined;
  }
  const inbox: unknown[] = [];
  let isDead = false;
  let wake = (): void => {};
  const end = (): void => {
    isDead = true;
    wake();
  };
  worker.unref();
  worker.on('error', end);
  worker.on('exit', end);
  answers.on('messageerror', end);
  answers.on('message', (message) => {
    inbox.push(message);
    wake();
  });
  answers.unref();
  return {
    get isDead() {
      return isDead;
    },
    post: (message, transfer = []) => worker.postMessage(message, transfer),
    take: () => inbox.shift() ?? receiveMessageOnPort(answers)?.message,
    async wait() {
      if (inbox.length > 0 || isDead) return;
      answers.ref();
      worker.ref();
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      answers.unref();
      worker.unref();
    },
    [Symbol.asyncDispose]: async () => {
      answers.close();
      await worker.terminate();
    },
  };
}

/** Flags and variables of the process are for its own program. */
function create(entry: URL, answers: MessagePort): Worker | undefined {
  try {
    return new Worker(entry, {
      workerData: answers,
      transferList: [answers],
      execArgv: [],
      env: {},
      stdout: true,
      stderr: true,
      resourceLimits: { maxYoungGenerationSizeMb: 4 },
    });
  } catch {
    return undefined;
  }
}
