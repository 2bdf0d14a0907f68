export interface LockHold extends Disposable {
  readonly name: string;
  readonly mode: 'shared' | 'exclusive';
}

/**
 * Locks between processes, by name (`[a-z0-9._-]+`), as held SQLite transactions on files in `$WAYMARK_HOME/locks/`:
 * the kernel frees them when the process dies.
 */
export interface Locks {
  /** Tries once. Undefined: somebody else holds it. A hold in the same process counts like any other. */
  tryAcquire(name: string, mode: 'shared' | 'exclusive'): LockHold | undefined;
  /** Retries without blocking the event loop for up to `waitMs`; undefined when it stayed taken. */
  acquire(name: string, mode: 'shared' | 'exclusive', waitMs: number): Promise<LockHold | undefined>;
  /** Tells whether anybody holds `name` exclusively (a probe that leaves nothing). */
  isHeld(name: string): boolean;
  /** Removes the files of locks that nobody holds and that were created before `before` (ms since the epoch); returns how many. */
  sweep(before: number): number;
}
