import { Worker } from 'node:worker_threads';

/** A thread that lives as long as its owner wants it to, and keeps no process alive. */
export interface WorkerThread extends AsyncDisposable {
  /** It ended by itself or by an error and does nothing more. */
  readonly isDead: boolean;
  post(message: unknown): void;
}

/**
 * Starts an entry of `src/workers/`; undefined where the process may start no thread. Sources and bundle have their entries at the same place
 * relative to this module.
 */
export function startWorker(name: string): WorkerThread | undefined {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const worker = create(new URL(`../workers/${name}.${extension}`, import.meta.url));
  if (worker === undefined) return undefined;
  let isDead = false;
  worker.unref();
  worker.on('error', () => {
    isDead = true;
  });
  worker.on('exit', () => {
    isDead = true;
  });
  return {
    get isDead() {
      return isDead;
    },
    post: (message) => worker.postMessage(message),
    [Symbol.asyncDispose]: async () => {
      await worker.terminate();
    },
  };
}

/** Flags and variables of the process are for its own program. */
function create(entry: URL): Worker | undefined {
  try {
    return new Worker(entry, { execArgv: [], env: {}, stdout: true, stderr: true, trackUnmanagedFds: false });
  } catch {
    return undefined;
  }
}
