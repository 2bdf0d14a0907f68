import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type CliOutput, runProgram } from './cli-sandbox.ts';

/** A user without privileges. */
export const NOBODY = 65534;

/** Runs `waymark` as {@link NOBODY}; where the tests have no privileges themselves, as whoever runs them. */
export function waymarkAsNobody(
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): (...args: readonly string[]) => Promise<CliOutput> {
  const { node, cli } = programForOthers();
  const as = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
  return (...args) => {
    const [program = node, ...rest] = [...(process.getuid?.() === 0 ? as : []), node, cli, ...args];
    return runProgram(program, rest, { cwd, env });
  };
}

/** Packages that the program itself does not need. */
const TOOLS: ReadonlySet<string> = new Set([
  'node',
  'typescript',
  '@typescript',
  '@biomejs',
  'rolldown',
  '@rolldown',
  'vitest',
  'vite',
  '@types',
  'lightningcss-linux-x64-gnu',
]);

/** The program where every user can read it. */
function programForOthers(): { readonly node: string; readonly cli: string } {
  const top = path.resolve(import.meta.dirname, '../..');
  const copy = mkdtempSync(path.join(tmpdir(), 'waymark-program-'));
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  cpSync(path.join(top, 'src'), path.join(copy, 'src'), { recursive: true });
  cpSync(path.join(top, 'package.json'), path.join(copy, 'package.json'));
  mkdirSync(path.join(copy, 'node_modules'));
  for (const name of readdirSync(path.join(top, 'node_modules'))) {
    if (TOOLS.has(name) || name.startsWith('.')) continue;
    cpSync(path.join(top, 'node_modules', name), path.join(copy, 'node_modules', name), { recursive: true });
  }
  const node = path.join(copy, 'node');
  cpSync(process.execPath, node);
  chmodSync(copy, 0o755);
  return { node, cli: path.join(copy, 'src/cli/bin.ts') };
}
