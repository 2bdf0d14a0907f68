import { execFileSync, spawnSync } from 'node:child_process';
import { onTestFinished } from 'vitest';

/** A terminal of its own in a tmux server of its own; ended when the test ends. */
export interface Tmux {
  /** Types keys, in the names of tmux (`Enter`, `C-c`), or text. */
  keys(...keys: readonly string[]): void;
  /** Waits until the screen shows a text, or no longer shows it; gives the screen. */
  shows(text: string | RegExp, wanted?: boolean): Promise<string>;
  screen(): string;
}

const PATIENCE_MS = 30_000;

/** Starts a shell in a terminal of 100 columns and 30 rows. */
export function tmux(
  directory: string,
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Tmux {
  const socket = `${directory}/tmux.socket`;
  const run = (...args: readonly string[]) =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], {
      env: { ...env, TERM: 'xterm' },
    }).toString();
  run('new-session', '-d', '-x', '100', '-y', '30', '-c', cwd, 'env', 'PS1=ready> ', '/bin/sh');
  onTestFinished(() => void spawnSync('tmux', ['-S', socket, 'kill-server']));
  const screen = () => run('capture-pane', '-p');
  return {
    keys: (...keys) => void run('send-keys', ...keys),
    screen,
    async shows(text, wanted = true) {
      const until = Date.now() + PATIENCE_MS;
      for (;;) {
        const shown = screen();
        const found = typeof text === 'string' ? shown.includes(text) : text.test(shown);
        if (found === wanted) return shown;
        if (Date.now() > until) throw new Error(`The terminal does not show ${String(text)}:\n${shown}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  };
}
