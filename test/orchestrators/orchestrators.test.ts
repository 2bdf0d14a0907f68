import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openWaymark, reasons } from '../../src/index.ts';
import { spawnCommand } from '../../src/platform/spawn-command.ts';
import { readText, writeFiles } from '../support/files.ts';
import { openSandbox, type Sandbox, sandbox } from '../support/sandbox.ts';

const top = path.resolve(import.meta.dirname, '../..');
const page = readFileSync(path.join(top, 'docs/orchestrators.md'), 'utf8');

/** The code of an example on the page. */
function example(name: string): string {
  const found = new RegExp(`<!-- run: ${name} -->\n\`\`\`\\w+\n([\\s\\S]*?)\`\`\``).exec(page);
  if (found?.[1] === undefined) throw new Error(`docs/orchestrators.md has no example ${name}`);
  return found[1];
}

/** Runs a shell example in the workspace with the checkout's own command line on the PATH. */
async function runShell(place: Sandbox, name: string, extra: Readonly<Record<string, string>> = {}) {
  const program = path.join(place.directory, 'bin');
  writeFiles(program, {
    waymark: `#!/bin/sh\nexec '${process.execPath}' '${path.join(top, 'src/cli/bin.ts')}' "$@"\n`,
  });
  const { exitCode, stdout, stderr } = await spawnCommand({
    command: { shell: `chmod +x '${program}/waymark'\n${example(name)}` },
    cwd: place.workspace,
    env: { ...place.environment, PATH: `${program}:${place.environment['PATH']}`, ...extra },
    stdio: 'capture',
  });
  return { exitCode, stdout: stdout?.toString() ?? '', stderr: stderr?.toString() ?? '' };
}

/** Runs a TypeScript example with what it takes for granted given by name. */
async function runTypeScript(name: string, given: Readonly<Record<string, unknown>>): Promise<void> {
  const body = example(name).replace(/^import .*$/m, '');
  const names = ['openWaymark', 'reasons', ...Object.keys(given)];
  const run = new Function(...names, `return (async () => {${body}})();`) as (
    ...values: readonly unknown[]
  ) => Promise<void>;
  await run(openWaymark, reasons, ...Object.values(given));
}

test('the build example leaves a checkpoint at each boundary', async () => {
  const place = sandbox();
  writeFiles(place.workspace, { 'src.txt': 'a' });
  const { exitCode, stdout, stderr } = await runShell(place, 'build.sh');
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/pre-impl-gate[\s\S]*pre-wave-1[\s\S]*pre-design-gate/);
  expect(readText(place.workspace, 'agent-2.txt')).toBe('two\n');
});

test('the build example in TypeScript holds a wave around all agents', async () => {
  const place = sandbox();
  writeFiles(place.workspace, { a: 'a' });
  const { workspace } = await openSandbox(place);
  const refused: unknown[] = [];
  const agent = async (): Promise<void> => {
    await workspace.createCheckpoint().catch((error: unknown) => refused.push(error));
  };
  await runTypeScript('build.ts', {
    options: place.options,
    directory: place.workspace,
    agents: [agent, agent],
  });
  expect(refused).toHaveLength(2);
  expect(refused[0]).toMatchObject({ code: 'WAVE_ACTIVE' });
  expect((await workspace.listCheckpoints()).map(({ metadata }) => metadata.reason)).toEqual(['pre-wave-2']);
});

test.each([
  ['restore', 0, 'good'],
  ['continue', 0, 'a fix that breaks more\n'],
  ['stop', 1, 'a fix that breaks more\n'],
])('the quality gate example offers restore, continue and stop: %s', async (answer, status, content) => {
  const place = sandbox();
  writeFiles(place.workspace, { 'src.txt': 'good', 'check.sh': '#!/bin/sh\nexit 1\n' });
  const { exitCode, stdout } = await runShell(place, 'gate.sh', { GATE_ANSWER: answer });
  expect(exitCode).toBe(status);
  expect(stdout).toMatch(/modify\s+src\.txt/);
  expect(readText(place.workspace, 'src.txt')).toBe(content);
});

test('the quality gate example in TypeScript restores on request only', async () => {
  for (const answer of ['restore', 'stop']) {
    const place = sandbox();
    writeFiles(place.workspace, { 'src.txt': 'good' });
    const running = runTypeScript('gate.ts', {
      options: place.options,
      directory: place.workspace,
      fix: async () => writeFiles(place.workspace, { 'src.txt': 'worse' }),
      isWorse: async () => true,
      choose: async () => answer,
    });
    if (answer === 'restore') await running;
    else await expect(running).rejects.toMatchObject({ code: 'DECLINED' });
    expect(readText(place.workspace, 'src.txt')).toBe(answer === 'restore' ? 'good' : 'worse');
  }
});

test('the debugger example takes one file back', async () => {
  const place = sandbox();
  writeFiles(place.workspace, { 'src.txt': 'original' });
  const { exitCode, stdout } = await runShell(place, 'debug.sh');
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/create\s+other\.txt\nmodify\s+src\.txt/);
  expect(readText(place.workspace, 'src.txt')).toBe('original');
  expect(readText(place.workspace, 'other.txt')).toBe('the same mend elsewhere\n');
});

test('after a restart everything is found from the directory alone; without a store the list is empty and says so', async () => {
  const place = sandbox();
  writeFiles(place.workspace, { a: 'a' });
  const empty = await runShell(place, 'restart.sh');
  expect([empty.exitCode, empty.stdout]).toEqual([0, '']);
  expect(empty.stderr).toContain('No checkpoints of');
  const { waymark, workspace } = await openSandbox(place);
  await workspace.createCheckpoint({ engine: 'git', reason: 'pre-wave-3', source: 'build' });
  await workspace.createCheckpoint({ engine: 'cas', reason: 'pre-plan-gate', source: 'build' });
  await waymark[Symbol.asyncDispose]();
  for (const name of readdirSync(place.home))
    if (name.startsWith('catalog.db')) rmSync(path.join(place.home, name));
  const { exitCode, stdout } = await runShell(place, 'restart.sh');
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/pre-plan-gate[\s\S]*pre-wave-3/);
});

test('the shadow repository lies where the hash of the path says, with a table of its checkpoints', async () => {
  const place = sandbox();
  writeFiles(place.workspace, { a: 'a' });
  const { workspace } = await openSandbox(place);
  const { checkpoint } = await workspace.createCheckpoint({
    engine: 'git',
    reason: 'pre-temper',
    source: 'build',
  });
  const hash = (await runShell(place, 'hash.sh')).stdout.trim();
  const shadow = path.join(place.home, 'projects', hash, 'checkpoints', hash);
  expect(existsSync(shadow)).toBe(true);
  const row = new RegExp(
    `\\| ${checkpoint?.sandboxRef.slice(0, 8)} \\| \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d \\| pre-temper +\\| build +\\|`,
  );
  expect(readFileSync(path.join(shadow, 'checkpoint-manifest.md'), 'utf8')).toMatch(row);
});

test('waymark skill teaches all five red flags', async () => {
  const { stdout } = await spawnCommand({
    command: { argv: [process.execPath, path.join(top, 'src/cli/bin.ts'), 'skill'] },
    cwd: top,
    env: sandbox().environment,
    stdio: 'capture',
  });
  expect(stdout?.toString().match(/\*\*Never\*\*/g)).toHaveLength(5);
  expect(stdout?.toString()).toMatch(/^---\nname: waymark\n/);
});
