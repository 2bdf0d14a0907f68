import { strictEqual } from 'node:assert';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { mustRun, runCommand } from './run-command.ts';
import type { Tally } from './tally.ts';

const root = join(import.meta.dirname, '..');
const LISTED = /^(?:dist\/.+\.(?:js|d\.ts)|README\.md|LICENSE|package\.json)$/;
const SECOND_NODE = '/usr/bin/node';
/** Files from which on threads are used, and some. */
const LARGE = 6000;

/** Packs the built package, installs the tarball in an empty folder and uses it there as a stranger would. */
export function checkPackage(tally: Tally): void {
  const place = mkdtempSync(join(tmpdir(), 'waymark-package-'));
  try {
    checkIn(place, tally);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function checkIn(place: string, tally: Tally): void {
  const consumer = join(place, 'consumer');
  const work = join(place, 'work');
  for (const directory of [consumer, work, join(place, 'user')]) mkdirSync(directory);
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    HOME: join(place, 'user'),
    WAYMARK_HOME: join(place, 'user', 'waymark'),
    PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
  };
  const cli = join(consumer, 'node_modules', '.bin', 'waymark');
  const waymark = (...args: readonly string[]) => mustRun(cli, args, { cwd: work, env }).stdout.trim();
  let tarball = '';

  tally.check('package: the tarball holds the build, README, LICENSE and package.json only', () => {
    const packed = mustRun('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', place], {
      cwd: root,
    });
    const report = JSON.parse(packed.stdout) as unknown;
    const [entry] = (Array.isArray(report) ? report : Object.values(report as object)) as {
      readonly filename: string;
      readonly files: readonly { readonly path: string }[];
    }[];
    if (entry === undefined) throw new Error('npm pack reported nothing');
    tarball = join(place, entry.filename);
    const paths = entry.files.map(({ path }) => path);
    const strangers = paths.filter((path) => !LISTED.test(path) || path.includes('.test.'));
    strictEqual(strangers.join(' '), '');
    for (const path of ['dist/index.js', 'dist/index.d.ts', 'dist/cli/bin.js', 'README.md', 'LICENSE']) {
      if (!paths.includes(path)) throw new Error(`${path} is missing`);
    }
  });
  tally.check('package: publint', () => {
    mustRun(process.execPath, ['node_modules/publint/src/cli.js', '--strict', '--pack', 'false'], {
      cwd: root,
    });
  });
  tally.check('package: npm installs the tarball in an empty folder', () => {
    writeFileSync(
      join(consumer, 'package.json'),
      '{ "name": "consumer", "private": true, "type": "module" }\n',
    );
    mustRun('npm', ['install', '--no-audit', '--no-fund', tarball], { cwd: consumer, env: process.env });
  });
  tally.check('package: waymark --version', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    strictEqual(waymark('--version'), version);
  });
  tally.check('package: create, list, restore', () => {
    writeFileSync(join(work, 'a.txt'), 'one\n');
    const id = waymark('checkpoints', 'create');
    writeFileSync(join(work, 'a.txt'), 'two\n');
    writeFileSync(join(work, 'b.txt'), 'new\n');
    const listed = JSON.parse(waymark('checkpoints', 'list', '--format', 'json')) as {
      checkpoint_id: string;
    }[];
    strictEqual(listed[0]?.checkpoint_id, id);
    waymark('checkpoints', 'restore', id, '--yes');
    strictEqual(readFileSync(join(work, 'a.txt'), 'utf8'), 'one\n');
    strictEqual(mustRun('ls', [work], { cwd: work }).stdout, 'a.txt\n');
  });
  tally.check('package: a capture that is large enough for threads, and each of these starts', () => {
    const large = join(place, 'large');
    for (let at = 0; at < LARGE; at += 1) {
      const directory = join(large, `${at % 60}`);
      if (at < 60) mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, `${at}`), `${at}`);
    }
    for (const round of [1, 2]) {
      const created = mustRun(cli, ['checkpoints', 'create', '--format', 'json'], { cwd: large, env });
      const { checkpoint } = JSON.parse(created.stdout) as {
        readonly checkpoint: { readonly coverage: { readonly status: string; readonly stored: number } };
      };
      const { status, stored } = checkpoint.coverage;
      strictEqual(`${round} ${status} ${stored}`, `${round} complete ${LARGE + 60}`);
    }
    const threads = join(consumer, 'node_modules', 'waymark', 'dist', 'workers');
    writeFileSync(join(consumer, 'threads.js'), THREADS_START);
    const started = mustRun(process.execPath, ['threads.js', threads], { cwd: consumer, env }).stdout;
    strictEqual(started, 'read-files.js\nscout.js\nwrite-files.js\n');
  });
  tally.check('package: the library from JavaScript', () => {
    writeFileSync(join(consumer, 'use.js'), LIBRARY_USE);
    strictEqual(mustRun(process.execPath, ['use.js', work], { cwd: consumer, env }).stdout, 'ok\n');
  });
  tally.check('package: the library from TypeScript', () => {
    writeFileSync(join(consumer, 'use.ts'), LIBRARY_USE);
    const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const types = join(root, 'node_modules', '@types');
    mustRun(
      process.execPath,
      [
        compiler,
        '--noEmit',
        '--strict',
        '--module',
        'nodenext',
        '--target',
        'esnext',
        '--lib',
        'esnext',
      ].concat(['--typeRoots', types, '--types', 'node', 'use.ts']),
      { cwd: consumer },
    );
    strictEqual(mustRun(process.execPath, ['use.ts', work], { cwd: consumer, env }).stdout, 'ok\n');
  });
  checkOldNode(tally, join(consumer, 'node_modules', 'waymark', 'dist', 'cli', 'bin.js'), work);
}

/** Where the machine has an older Node, too. */
function checkOldNode(tally: Tally, bin: string, cwd: string): void {
  const version = runCommand(SECOND_NODE, ['--version'], { cwd }).stdout.trim();
  if (Number.parseInt(version.slice(1), 10) >= 24) return;
  tally.check(`package: one clear line under Node ${version}`, () => {
    const { status, stdout, stderr } = runCommand(SECOND_NODE, [bin, 'status'], { cwd });
    strictEqual(status, 1);
    strictEqual(stdout, '');
    strictEqual(/^waymark: needs Node 24 or newer; [^\n]*\n$/.test(stderr), true);
  });
  tally.check(`package: a checkout brings its own Node, under Node ${version}`, () => {
    const checkout = join(root, 'dist', 'cli', 'bin.js');
    const { status, stdout } = runCommand(SECOND_NODE, [checkout, 'checkpoints', 'create', '--help'], {
      cwd,
    });
    strictEqual(status, 0);
    strictEqual(stdout.startsWith('Usage: waymark checkpoints create'), true);
  });
}

/** Starts every thread in a directory and names it. */
const THREADS_START = `
import { readdirSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { MessageChannel, Worker } from 'node:worker_threads';
for (const file of readdirSync(process.argv[2]).filter((name) => name.endsWith('.js')).sort()) {
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(join(process.argv[2], file), { execArgv: [], env: {}, workerData: port2, transferList: [port2] });
  await once(worker, 'online');
  await worker.terminate();
  port1.close();
  console.log(file);
}
`;

/** Valid as JavaScript and as TypeScript. */
const LIBRARY_USE = `
import { homedir, tmpdir } from 'node:os';
import { openWaymark, WaymarkError } from 'waymark';

const home = String(process.env['WAYMARK_HOME']);
await using waymark = await openWaymark({
  home,
  environment: process.env,
  userHome: homedir(),
  temporaryDirectory: tmpdir(),
});
const workspace = await waymark.openWorkspace(String(process.argv[2]));
const { checkpoint, stats } = await workspace.createCheckpoint({ reason: 'from the library' });
if (checkpoint === null || stats.filesObserved !== 1) throw new Error('no checkpoint');
const found = await workspace.findCheckpoint('@');
if (found.id !== checkpoint.id) throw new Error('not found again');
try {
  await workspace.findCheckpoint('nonsense');
} catch (error) {
  if (error instanceof WaymarkError && error.code === 'CHECKPOINT_NOT_FOUND') console.log('ok');
}
`;
