import type { CommandModule } from './command.ts';
import { EXIT } from './exit-status.ts';

/** How long an aborted command may take to leave things tidy, ms. Ending it any time is safe, only less tidy. */
const PATIENCE_MS = 3000;

/**
 * Makes SIGINT end the process with status 130: at once, or through an abort signal for commands that ask for it
 * (a second SIGINT, or waiting too long, ends it all the same).
 */
export function interrupts(
  host: NodeJS.Process,
  mode: CommandModule['onInterrupt'],
): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const leave = () => host.exit(EXIT.interrupted);
  const onInterrupt = () => {
    if (mode !== 'abort' || controller.signal.aborted) leave();
    controller.abort();
    setTimeout(leave, PATIENCE_MS).unref();
  };
  if (mode !== 'own') host.on('SIGINT', onInterrupt);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => host.off('SIGINT', onInterrupt),
  };
}
