import { WaymarkError } from './errors.ts';

/** @throws WaymarkError `INTERRUPTED` where the caller wants no more of it */
export function refuseAborted(signal: AbortSignal | undefined, what: string): void {
  if (signal?.aborted)
    throw new WaymarkError('INTERRUPTED', `The ${what} was interrupted; nothing was changed`);
}
