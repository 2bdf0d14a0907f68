import { expect } from 'vitest';
import { coverageOf } from '../../src/domain/coverage.ts';
import { decodeName, encodeName, type RelPath } from '../../src/domain/rel-path.ts';
import type { Checkpoint, RestoreResult, SnapshotNode } from '../../src/index.ts';
import { type DiskNode, type DiskTree, describeTree, holdsSame, isBelow, readDiskTree } from './disk-tree.ts';
import { covers, type Moment } from './reference-restore.ts';
import type { Status } from './reference-scope.ts';

/** The tree on the disk is exactly this one. */
export function expectTree(root: string, expected: DiskTree, when: string): void {
  expect(describeTree(readDiskTree(root)), `the tree ${when}`).toEqual(describeTree(expected));
}

/** What holds the same as before is the same: inode and mtime, of a directory the inode. */
export function expectUntouched(root: string, before: DiskTree): void {
  for (const [at, node] of readDiskTree(root)) {
    const was = before.get(at);
    if (was === undefined || !holdsSame(was, node)) continue;
    expect(node.inode, `the inode of ${at}`).toBe(was.inode);
    if (node.kind !== 'directory') expect(node.mtimeNs, `the mtime of ${at}`).toBe(was.mtimeNs);
  }
}

/** The report names exactly what changed. */
export function expectReport(result: RestoreResult, before: DiskTree, after: DiskTree): void {
  const reported = result.changes.map(
    ({ path: name, action }) => `${JSON.stringify(fromProduct(name))} ${action}`,
  );
  const real = [...new Set([...before.keys(), ...after.keys()])].flatMap((at) => {
    const action = actionBetween(before.get(at), after.get(at));
    return action === undefined ? [] : [`${JSON.stringify(at)} ${action}`];
  });
  expect(reported.sort(), 'the reported changes').toEqual(real.sort());
}

/** Whatever is asked for and left as it is has a reason in the report, and nothing has that became what it should. */
export function expectReasons(
  result: RestoreResult,
  target: Moment,
  present: Moment,
  after: DiskTree,
  isSelected: (path: string) => boolean,
): void {
  const skipped = result.skipped.map(({ path: name }) => fromProduct(name));
  for (const [at, status] of target.statuses) {
    if (status !== 'stored' || !isSelected(at) || !covers(target, at)) continue;
    if (holdsSame(target.tree.get(at), after.get(at))) continue;
    const told = skipped.some((skip) => skip === at || isBelow(at, skip) || isBelow(skip, at));
    expect(told, `${JSON.stringify(at)} differs and has a reason`).toBe(true);
  }
  for (const at of skipped) {
    expect(holdsSame(present.tree.get(at), after.get(at)), `skipped ${at} stays`).toBe(true);
  }
}

/** The record says of its snapshot what reading the whole of it gives. */
export function expectFigures(
  { coverage, sizeBytes }: Checkpoint,
  entries: readonly (readonly [RelPath, SnapshotNode])[],
): void {
  const skips = entries.flatMap(([path, node]) =>
    node.kind === 'observed' ? [{ path, reason: node.reason }] : [],
  );
  const bytes = entries.map(([, node]) => (node.kind === 'file' ? node.size : 0));
  expect(coverage, 'the coverage').toEqual(coverageOf(entries.length - skips.length, skips));
  expect(sizeBytes, 'the bytes').toBe(bytes.reduce((sum, size) => sum + size, 0));
}

function actionBetween(from: DiskNode | undefined, to: DiskNode | undefined): string | undefined {
  if (from === undefined || to === undefined) {
    return from === to ? undefined : from === undefined ? 'create' : 'delete';
  }
  if (from.kind !== to.kind) return 'type';
  if (from.content !== to.content) return 'modify';
  return from.mode === to.mode ? undefined : 'mode';
}

export function describeNode(node: SnapshotNode): string {
  if (node.kind === 'observed') return node.reason;
  if (node.kind === 'file') return `file ${node.mode.toString(8)} ${node.size} ${node.hash}`;
  if (node.kind === 'directory') return `directory ${node.mode.toString(8)}`;
  return `symlink ${fromProduct(node.target)}`;
}

export function describeExpected(node: DiskNode | undefined, status: Status): string {
  if (status !== 'stored' || node === undefined) return status;
  if (node.kind === 'file') return `file ${node.mode.toString(8)} ${node.size} ${node.content}`;
  if (node.kind === 'directory') return `directory ${node.mode.toString(8)}`;
  return `symlink ${node.content}`;
}

/** The product's spelling of a path, from its bytes, and back. */
export function toProduct(at: string): string {
  return decodeName(Buffer.from(at, 'latin1'));
}

export function fromProduct(at: string): string {
  return encodeName(at).toString('latin1');
}
