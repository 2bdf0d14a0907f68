import type { Progress } from '../checkpoints/api/progress.ts';
import type { Workspace } from '../checkpoints/api/workspace.ts';
import type { Terminal } from './terminal.ts';

/** Work shorter than this shows nothing, ms. */
const SILENCE_MS = 500;
const BETWEEN_MS = 100;

const DOING: Readonly<Record<Progress['phase'], string>> = {
  walk: 'Looking at files',
  read: 'Reading files',
  store: 'Storing',
  plan: 'Comparing',
  apply: 'Restoring',
  verify: 'Verifying',
  collect: 'Freeing space',
};

/** Shows progress on one line of standard error while it lives; nothing where that is no terminal. */
export function progressLine(terminal: Terminal, workspace: Workspace): Disposable & { clear(): void } {
  if (!terminal.errIsTerminal) return { clear() {}, [Symbol.dispose]() {} };
  const start = performance.now();
  let shownAt = 0;
  let shown = false;
  const clear = () => {
    if (shown) terminal.err('\r\u001b[K');
    shown = false;
  };
  const stop = workspace.onProgress(({ phase, done, total }) => {
    const now = performance.now();
    if (now - start < SILENCE_MS || now - shownAt < BETWEEN_MS) return;
    shownAt = now;
    const counted = total === undefined ? `${done}` : `${done} of ${total}`;
    terminal.err(`\r\u001b[K${DOING[phase]}: ${counted}`.slice(0, terminal.columns + 4));
    shown = true;
  });
  return {
    clear,
    [Symbol.dispose]() {
      stop();
      clear();
    },
  };
}
