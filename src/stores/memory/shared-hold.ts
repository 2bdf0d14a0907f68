import { WaymarkError } from '../../domain/errors.ts';
import type { StoreHold } from '../snapshot-store.ts';

/** A lock within this process: many shared holders or one exclusive. */
export class SharedHold {
  #shared = 0;
  #exclusive = false;
  #waiting = new Set<() => void>();

  async acquire(mode: StoreHold['mode'], waitMs: number): Promise<StoreHold> {
    const deadline = AbortSignal.timeout(Math.max(0, waitMs));
    while (this.#exclusive || (mode === 'exclusive' && this.#shared > 0)) {
      if (waitMs <= 0 || deadline.aborted || !(await this.#change(deadline))) {
        throw new WaymarkError('STORE_BUSY', 'The store in memory is in use');
      }
    }
    if (mode === 'shared') this.#shared += 1;
    else this.#exclusive = true;
    let held = true;
    return {
      mode,
      [Symbol.asyncDispose]: async () => {
        if (!held) return;
        held = false;
        if (mode === 'shared') this.#shared -= 1;
        else this.#exclusive = false;
        for (const wake of this.#waiting) wake();
      },
    };
  }

  /** Waits for a hold to end; false when time is up first. */
  #change(deadline: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (changed: boolean) => () => {
        this.#waiting.delete(wake);
        deadline.removeEventListener('abort', late);
        resolve(changed);
      };
      const wake = settle(true);
      const late = settle(false);
      this.#waiting.add(wake);
      deadline.addEventListener('abort', late);
    });
  }
}
