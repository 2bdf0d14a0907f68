import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RestoreResult, RunContext, Workspace } from '../../src/index.ts';
import { readText, writeFiles } from '../support/files.ts';
import { openSandbox, type Sandbox, sandbox } from '../support/sandbox.ts';
import { goBack } from '../support/take.ts';
import { treeListing } from '../support/tree-listing.ts';

const LIMITS = { WAYMARK_LIMITS_MAX_FILES: '40' };
const VETO = {
  '.gitignore': '*\n',
  'src/.gitignore': '*\n',
  '.waymarkignore': '**\n',
  'waymark.toml':
    '[limits]\nmax_file_bytes = 1\nmax_total_bytes = 1\n[retention]\nkeep = 1\nmax_age = "1s"\nmax_store_bytes = 1\n[store.git]\nkeep = 1\n[scope]\nexclude = ["**"]\n',
};

const START = {
  '.gitignore': 'build/\n',
  'waymark.toml': '[limits]\nmax_file_bytes = 2000\n',
  'src/main.ts': 'main v1',
  'src/lib/deep/a.ts': 'a v1',
  'src/lib/deep/b.ts': 'b v1',
  'src/grows.bin': 'small',
  'docs/read.me': 'read v1',
  turns: 'a file',
  'turns-dir/x': 'x v1',
  gone: 'gone v1',
};

/** Contents of all regular files below a directory, as SHA-256. */
function contents(root: string): ReadonlySet<string> {
  const lines = treeListing(root).map((line) => / file \d+ ([0-9a-f]{64})$/.exec(line)?.[1]);
  return new Set(lines.filter((digest) => digest !== undefined));
}

async function held(workspace: Workspace, id: string): Promise<ReadonlySet<string>> {
  const { entries, problems } = await workspace.showCheckpoint(id);
  expect(problems).toEqual([]);
  const digests = new Set<string>();
  for (const [name, node] of entries) {
    if (node.kind !== 'file') continue;
    const digest = createHash('sha256');
    for await (const piece of workspace.cat(id, name)) digest.update(piece);
    digests.add(digest.digest('hex'));
  }
  return digests;
}

/** What went is held. */
async function nothingLost(
  workspace: Workspace,
  root: string,
  before: ReadonlySet<string>,
  { safetyCheckpointId }: RestoreResult,
): Promise<void> {
  if (safetyCheckpointId === null) throw new Error('There is no safety checkpoint');
  const left = contents(root).union(await held(workspace, safetyCheckpointId));
  expect([...before].filter((digest) => !left.has(digest))).toEqual([]);
}

const nameOf = (line: string) => line.slice(0, line.search(/ (?:dir|link|file|special)/));

/** Every path that was there at the start is as it was then, but for the one that the restore reported. */
function expectStart(root: string, start: readonly string[], { skipped }: RestoreResult, left: string): void {
  expect(skipped.map((skip) => skip.path).filter((name) => name in START)).toEqual([left]);
  const names = new Set(start.map(nameOf));
  const now = treeListing(root).filter((line) => names.has(nameOf(line)));
  expect(now.filter((line) => nameOf(line) !== left)).toEqual(start.filter((line) => nameOf(line) !== left));
}

interface Scene {
  readonly place: Sandbox;
  readonly workspace: Workspace;
  readonly start: readonly string[];
}

async function scene(): Promise<Scene> {
  const place = sandbox();
  writeFiles(place.workspace, START);
  mkdirSync(path.join(place.workspace, 'empty'));
  const environment = { ...place.environment, ...LIMITS };
  const { workspace } = await openSandbox(place, { environment });
  return { place, workspace, start: treeListing(place.workspace) };
}

/** Does what it can so that nothing of what comes next is protected, and what was is dropped. */
async function obstruct({ place, workspace }: Scene, run: RunContext, files: number): Promise<void> {
  const root = place.workspace;
  writeFiles(root, VETO);
  for (let n = 0; n < 3; n += 1) {
    writeFiles(root, { 'src/main.ts': `main, step ${n}` });
    await run.checkpoint();
    await workspace.createCheckpoint({ session: run.sessionId, keep: 1 });
  }
  await workspace.prune();
  for (const name of readdirSync(root)) rmSync(path.join(root, name), { recursive: true });
  writeFiles(root, {
    ...VETO,
    'src/main.ts': 'main v2',
    'src/lib/deep/a.ts': 'a v2',
    'src/grows.bin': 'x'.repeat(9000),
    'turns/inside': 'a directory now',
    'turns-dir': 'a file now',
    'docs/read.me': 'read v2',
  });
  for (let n = 0; n < files; n += 1) writeFiles(root, { [`new/n${n}`]: `new ${n}` });
  await workspace.prune();
}

describe.each(['cas', 'git'] as const)('what a run does against its own protection, engine %s', (engine) => {
  test.each([
    ['fewer files than max_files', 5],
    ['more files than max_files', 60],
  ])('DL-02: the start of a run that leaves %s is restored', async (_, files) => {
    const at = await scene();
    const { place, workspace, start } = at;
    const result = await workspace.run({ engine }, (run) => obstruct(at, run, files));
    expect(result.after === null).toBe(files > Number(LIMITS.WAYMARK_LIMITS_MAX_FILES));
    if (result.before === null) throw new Error('The run has no start');
    expect((await workspace.listCheckpoints()).map(({ id }) => id)).toContain(result.before.id);
    const present = contents(place.workspace);
    const restored = await goBack(workspace, result.before.id);
    expectStart(place.workspace, start, restored, 'turns');
    await nothingLost(workspace, place.workspace, present, restored);
    expect((await workspace.verify(result.before.id)).problems).toEqual([]);
    // What is ignored and was never seen in the place of a file stays; once it is out of the way, the file comes.
    renameSync(path.join(place.workspace, 'turns'), path.join(place.directory, 'turns'));
    await goBack(workspace, result.before.id, ['turns']);
    expect(readText(place.workspace, 'turns')).toBe('a file');
  });

  test('DL-02: the start of a run is restored within it', async () => {
    const at = await scene();
    const { place, start } = at;
    await at.workspace.run({ engine }, async (run) => {
      await obstruct(at, run, 60);
      const environment = { ...place.environment, ...LIMITS, ...run.env };
      const { workspace } = await openSandbox(place, { environment });
      const present = contents(place.workspace);
      const restored = await goBack(workspace, run.before?.id ?? '');
      expectStart(place.workspace, start, restored, 'turns');
      await nothingLost(workspace, place.workspace, present, restored);
    });
  });

  test('DL-02: undo takes such a run back, and redo does it again', async () => {
    const at = await scene();
    const { place, workspace, start } = at;
    const { before, after, operation, warnings } = await workspace.run({ engine }, (run) =>
      obstruct(at, run, 5),
    );
    expect(after, warnings.join('\n')).not.toBeNull();
    const present = treeListing(place.workspace);
    const digests = contents(place.workspace);
    const undone = await workspace.undo({ operation: operation.id, confirm: 'always' });
    expectStart(place.workspace, start, undone, 'src/grows.bin');
    await nothingLost(workspace, place.workspace, digests, undone);
    await workspace.redo({ confirm: 'always' });
    expect(treeListing(place.workspace)).toEqual(present);
    // What grew over the limit is not held as the run left it, so that only a restore may take it.
    await goBack(workspace, before?.id ?? '', ['src/grows.bin']);
    expect(readText(place.workspace, 'src/grows.bin')).toBe('small');
  });
});
