import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { applyDraft, WorkspaceScene } from '../../test/support/workspace-scene.ts';
import type { SnapshotNode } from '../domain/snapshot.ts';
import { hashPending } from './hash-pending.ts';

const script = (name: string) => join(import.meta.dirname, '../../test/support', name);

/** Lets another process move files between directories until the test ends. */
async function keepMoving(scene: WorkspaceScene, directories: number, files: number): Promise<void> {
  for (let at = 0; at < directories; at += 1) scene.mkdir(`d${at}`);
  for (let at = 0; at < files; at += 1) scene.write(`d0/moving${at}`);
  const child = spawn(
    process.execPath,
    [script('mover.ts'), scene.root, String(directories), String(files)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  await once(child.stdout, 'data');
}

/** Files that are nowhere although every listing they could be in claims to be complete. */
function provenAbsent(
  nodes: ReadonlyMap<string, SnapshotNode>,
  truncated: boolean,
  files: number,
): readonly string[] {
  const names = new Set([...nodes.keys()].map((path) => path.slice(path.indexOf('/') + 1)));
  const isOpen = [...nodes.values()].some((node) => node.kind === 'directory' && node.listing === 'partial');
  if (isOpen || truncated) return [];
  return Array.from({ length: files }, (_, at) => `moving${at}`).filter((name) => !names.has(name));
}

test.each(['first', 'incremental'])(
  'observeWorkspace() never proves a file absent that moves while it walks (%s captures)',
  async (mode) => {
    const scene = new WorkspaceScene();
    const files = 12;
    await keepMoving(scene, 300, files);
    let complete = 0;
    for (let round = 0; round < 60 && complete < 10; round += 1) {
      if (mode === 'first') scene.cache = undefined;
      const observation = await scene.observe();
      const read = await hashPending(observation);
      const nodes = new Map(observation.draft.base === undefined ? [] : scene.nodes);
      applyDraft(nodes, observation, new Map([...read].map(([path, node]) => [path, node ?? MET])));
      expect(provenAbsent(nodes, observation.draft.truncated, files)).toEqual([]);
      complete += [...nodes.values()].every(
        (node) => node.kind !== 'directory' || node.listing === 'complete',
      )
        ? 1
        : 0;
      scene.nodes = nodes;
      scene.cache = observation.next({ root: String(round).padStart(64, '0') as never, read });
    }
  },
);

/** Stands for a file that was met and had moved on when it was read. */
const MET: SnapshotNode = { kind: 'observed', reason: 'unstable', what: 'file', size: 0 };

test('IC-03: observeWorkspace() observes what it may not read, and tries again each time', () => {
  const scene = new WorkspaceScene();
  scene.write('ok.txt');
  scene.write('locked/inside');
  scene.write('closed.txt');
  scene.write('names-only/x');
  mkdirSync(`${scene.root}/enter-only`);
  chmodSync(scene.path('locked'), 0o000);
  chmodSync(scene.path('closed.txt'), 0o000);
  chmodSync(scene.path('names-only'), 0o744);
  chmodSync(scene.path('enter-only'), 0o711);
  chmodSync(scene.directory, 0o755);
  const output = execFileSync(process.execPath, [script('observe-as.ts'), scene.root, '65534'], {
    encoding: 'utf8',
  });
  expect(JSON.parse(output)).toEqual([
    [
      'closed.txt: unreadable file',
      'enter-only: unreadable directory',
      'locked: unreadable directory',
      'names-only: directory',
      'names-only/x: unreadable unknown',
      'ok.txt: file',
    ],
    // Read again within the tick of its making; what stays closed is no difference.
    expect.toSatisfy((edits: readonly string[]) => edits.every((edit) => edit === 'ok.txt: file')),
  ]);
});

test('observeWorkspace() goes through very many directories in one, and observes what no path can reach', async () => {
  const scene = new WorkspaceScene();
  const step = 'n'.repeat(250);
  execFileSync(
    'sh',
    ['-c', `for i in $(seq 20); do mkdir ${step} && cd -P ${step} || exit 1; done; echo x > file`],
    { cwd: scene.root },
  );
  for (let at = 0; at < 3000; at += 1) mkdirSync(`${scene.root}/many-${at}`);
  const { skips } = await scene.capture();
  expect(skips.map(({ reason }) => reason)).toEqual(['unreadable']);
  expect([...scene.nodes].filter(([, { kind }]) => kind === 'directory')).toHaveLength(3000 + 16);
  execFileSync('sh', ['-c', `rm -rf ${step}`], { cwd: scene.root });
});
