import { EXIT } from '../exit-status.ts';

/** What ends a plan run: its step is ended, the end recorded and a last checkpoint taken, so that it can be resumed. */
const ENDING: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

export interface PlanSignals extends Disposable {
  readonly signal: AbortSignal;
}

/** Turns the first signal into an abort; a second one ends the process, which is safe at any time. */
export function planSignals(host: NodeJS.Process): PlanSignals {
  const controller = new AbortController();
  const onSignal = () => {
    if (controller.signal.aborted) host.exit(EXIT.interrupted);
    controller.abort();
  };
  for (const signal of ENDING) host.on(signal, onSignal);
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      for (const signal of ENDING) host.off(signal, onSignal);
    },
  };
}
