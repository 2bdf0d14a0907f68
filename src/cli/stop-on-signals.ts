const ENDING: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

/** While it lives, a signal that would end this process aborts what it is doing, so that it can leave things tidy. */
export function stopOnSignals(host: NodeJS.Process): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const abort = () => controller.abort();
  for (const name of ENDING) host.on(name, abort);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      for (const name of ENDING) host.off(name, abort);
    },
  };
}
