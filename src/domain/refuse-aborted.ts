import { WaymarkError } from './errors.ts';

/** @throws WaymarkError `INTERRUPTED` with this message where the caller wants no more of it */
export function refuseAborted(signal: AbortSignal | undefined, message: string): void {
  if (signal?.aborted) throw new WaymarkError('INTERRUPTED', message);
}
