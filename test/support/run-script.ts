import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** A script of the tests that runs in a process of its own. */
export interface RunningScript {
  readonly process: ChildProcess;
  /** Resolves with the next line it prints. */
  line(): Promise<string>;
  /** Resolves with all that it printed and that no {@link line} took; rejects with its standard error unless it ends well. */
  readonly output: Promise<string>;
  /** Resolves with all of its standard error. */
  readonly errors: Promise<string>;
}

/** Starts `node script ...args`. */
export function runScript(script: string, ...args: readonly string[]): RunningScript {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  const errors = text(child.stderr);
  const lines: string[] = [];
  let rest = '';
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
    child.stdout.emit('lines');
  });
  child.once('close', () => resolve());
  return {
    process: child,
    errors,
    async line() {
      while (lines.length === 0) {
        if (child.exitCode !== null || child.signalCode !== null) throw new Error(await errors);
        await Promise.race([once(child.stdout, 'lines'), ended]);
      }
      return lines.shift() as string;
    },
    output: ended.then(async () => {
      if (child.exitCode !== 0 && child.signalCode === null) throw new Error(await errors);
      return lines.join('\n') + rest;
    }),
  };
}
