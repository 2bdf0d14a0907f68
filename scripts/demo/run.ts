import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { treeListing } from '../../test/support/tree-listing.ts';
import { buildWorkspace } from './build-workspace.ts';

const top = path.resolve(import.meta.dirname, '../..');
const cli = path.join(top, 'src/cli/bin.ts');
const rogue = path.join(import.meta.dirname, 'rogue-agent.sh');

/** Shows the whole circle on a real tree: checkpoint, havoc, diff, restore, undo, redo; checks every state with a listing of its own. */
function demo(directory: string): void {
  const workspace = path.join(directory, 'project');
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: directory,
    WAYMARK_HOME: path.join(directory, 'home'),
    LANG: 'C.UTF-8',
  };
  mkdirSync(workspace);
  say(`A project of ${buildWorkspace(path.join(top, 'node_modules'), workspace)} real files in ${workspace}`);
  const waymark = (...args: readonly string[]): string => {
    const started = performance.now();
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], {
      cwd: workspace,
      env: environment,
      encoding: 'utf8',
    });
    show(`waymark ${args.join(' ')}`, stdout + stderr, performance.now() - started);
    if (status !== 0) fail(`it ended with status ${status}`);
    return stdout.trim();
  };

  const before = treeListing(workspace);
  const id = waymark('checkpoints', 'create', '--reason', 'before-the-agent');
  say('An agent with a shell goes at it:');
  print(readFileSync(rogue, 'utf8').split('\n').slice(2).join('\n'));
  const started = performance.now();
  const agent = spawnSync('sh', [rogue], { cwd: workspace, env: environment, stdio: 'inherit' });
  if (agent.status !== 0) fail('the agent gave up');
  print(`  (${Math.round(performance.now() - started)} ms)`);
  const wrecked = treeListing(workspace);
  waymark('checkpoints', 'diff', id);
  waymark('checkpoints', 'restore', id, '--yes');
  same(workspace, before, 'as before the agent');
  waymark('undo', '--yes');
  same(workspace, wrecked, 'as the agent left it');
  waymark('redo', '--yes');
  same(workspace, before, 'as before the agent again');
  waymark('checkpoints', 'verify');
}

function same(workspace: string, wanted: readonly string[], state: string): void {
  const found = treeListing(workspace);
  const differing = wanted.filter((line, at) => line !== found[at]);
  if (found.length !== wanted.length || differing.length > 0)
    fail(`the tree is not ${state}: ${differing[0] ?? 'other paths'}`);
  say(`✓ ${found.length} paths compared by type, mode and SHA-256: exactly ${state}`);
}

function show(command: string, output: string, ms: number): void {
  const lines = output.trimEnd().split('\n');
  const shown =
    lines.length > 14
      ? [...lines.slice(0, 8), `… ${lines.length - 13} more lines …`, ...lines.slice(-5)]
      : lines;
  print(`\n$ ${command}\n${shown.map((line) => `  ${line}`).join('\n')}\n  (${Math.round(ms)} ms)`);
}

function say(line: string): void {
  print(`\n${line}`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function fail(why: string): never {
  throw new Error(`The demo failed: ${why}`);
}

const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'waymark-demo-')));
try {
  demo(directory);
  say('Nothing is left behind.');
} finally {
  rmSync(directory, { recursive: true, force: true });
}
