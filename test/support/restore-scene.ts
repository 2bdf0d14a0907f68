import { chmodSync, linkSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { pairNodes } from '../../src/domain/diff.ts';
import type { OperationId } from '../../src/domain/ids.ts';
import { toFsPath } from '../../src/domain/rel-path.ts';
import type { SnapshotView } from '../../src/domain/snapshot.ts';
import { planRestore } from '../../src/restore/plan/plan-restore.ts';
import type { RestorePlan } from '../../src/restore/plan/restore-plan.ts';
import { compileScope } from '../../src/workspace/scope/scope.ts';
import { type Blobs, scanView } from './snapshot-views.ts';

/** What to put at a path: a file's content, or another kind of entry. */
export type Sketch =
  | string
  | { readonly content: string; readonly mode: number }
  | { readonly directory: number }
  | { readonly link: string }
  | { readonly hardLinkTo: string };

/** Paths (parents first) to what lies there; missing parents are made. */
export type TreeSketch = Readonly<Record<string, Sketch>>;

/** Makes a directory hold exactly a sketch. Modes of directories are set at the end. */
export function drawTree(root: string, sketch: TreeSketch): void {
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  addToTree(root, sketch);
}

/** The same in a directory that is there and stays the same one. */
export function redrawTree(root: string, sketch: TreeSketch): void {
  for (const name of readdirSync(root, { encoding: 'buffer' })) {
    rmSync(Buffer.concat([Buffer.from(`${root}/`), name]), { recursive: true, force: true });
  }
  addToTree(root, sketch);
}

function addToTree(root: string, sketch: TreeSketch): void {
  const modes: [string, number][] = [];
  for (const [path, what] of Object.entries(sketch)) {
    const at = toFsPath(`${root}/${path}`);
    const slash = path.lastIndexOf('/');
    if (slash > 0) mkdirSync(toFsPath(`${root}/${path.slice(0, slash)}`), { recursive: true });
    if (typeof what === 'string') writeFileSync(at, what);
    else if ('content' in what) {
      writeFileSync(at, what.content);
      chmodSync(at, what.mode);
    } else if ('link' in what) symlinkSync(toFsPath(what.link), at);
    else if ('hardLinkTo' in what) linkSync(`${root}/${what.hardLinkTo}`, at);
    else {
      mkdirSync(at, { recursive: true });
      modes.push([path, what.directory]);
    }
  }
  for (const [path, mode] of modes.reverse()) chmodSync(toFsPath(`${root}/${path}`), mode);
}

export const OPERATION = '01J00000000000000000000000' as OperationId;

/** Plans the way from the tree as it is now back to an earlier view of it, with no rules. */
export function planBack(
  root: string,
  target: SnapshotView,
  blobs: Blobs,
  paths: readonly string[] = [],
): RestorePlan {
  const present = scanView(root, blobs);
  return planRestore({
    target,
    present,
    pairs: pairNodes(target.nodes(), present.nodes()),
    targetScope: compileScope(target.rules),
    presentScope: compileScope(present.rules),
    betweenScopes: [],
    selection: { paths },
  });
}

const LONG = 'x'.repeat(70_000);

/** A tree with every kind of entry, and what became of it: every kind of change there is. */
export const THEN: TreeSketch = {
  'edited.txt': 'then',
  'deleted.txt': 'deleted',
  'large.bin': LONG,
  'run.sh': { content: '#!/bin/sh', mode: 0o755 },
  key: { content: 'k', mode: 0o600 },
  ro: { content: 'readonly', mode: 0o444 },
  setuid: { content: 's', mode: 0o4755 },
  same: 'same',
  linked: 'shared',
  link: { link: 'edited.txt' },
  'lost-link': { link: '/nowhere/at all' },
  'file-to-dir': 'a file',
  'file-to-link': 'a file',
  'link-to-file': { link: 'target' },
  'link-to-dir': { link: 'same' },
  'dir-to-file/deep/a': 'a',
  'dir-to-file/b': 'b',
  'dir-to-link/c': 'c',
  cache: { directory: 0o2750 },
  'closed/x': { content: 'x', mode: 0o444 },
  closed: { directory: 0o555 },
  'gone/deep/er/f': 'f',
  'gone/closed/g': 'g',
  'gone/closed': { directory: 0o500 },
  'names/new\nline': '1',
  'names/f\udcffo': '2',
  'names/-rf': '3',
  'names/*': '4',
};

export const NOW: TreeSketch = {
  'edited.txt': 'now',
  'large.bin': `${LONG}y`,
  'run.sh': { content: '#!/bin/sh', mode: 0o644 },
  key: { content: 'changed', mode: 0o644 },
  ro: { content: 'written', mode: 0o444 },
  setuid: { content: 's', mode: 0o755 },
  same: 'same',
  linked: 'written through',
  'other-name': { hardLinkTo: 'linked' },
  link: { link: 'elsewhere' },
  'file-to-dir/sub/n': 'n',
  'file-to-link': { link: 'same' },
  'link-to-file': 'a file now',
  'link-to-dir/m': 'm',
  'dir-to-file': 'was a directory',
  'dir-to-link': { link: 'same' },
  'closed/x': { content: 'changed', mode: 0o600 },
  'closed/y': 'y',
  closed: { directory: 0o555 },
  junk: { directory: 0o700 },
  'new/closed/z': 'z',
  'new/closed': { directory: 0o555 },
  'names/new\nline': '1 now',
  'names/f\udcffo': '2 now',
  'names/-rf': '3 now',
  'names/*': '4 now',
  'created.txt': 'created',
};
