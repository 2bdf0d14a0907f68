import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readText, writeFiles } from '../support/files.ts';
import { openSandbox, sandbox } from '../support/sandbox.ts';
import { treeListing } from '../support/tree-listing.ts';

/** Restores and undos that meet what rules or limits hide at that moment. */
describe.each(['cas', 'git'] as const)('hidden places, engine %s', (engine) => {
  async function scene(files: Readonly<Record<string, string>>) {
    const place = sandbox();
    writeFiles(place.workspace, files);
    const { workspace } = await openSandbox(place);
    const capture = async (paths: readonly string[] = []) => {
      const { checkpoint } = await workspace.createCheckpoint({ engine, paths });
      return checkpoint?.id ?? '';
    };
    const restore = (checkpoint: string) => workspace.restore({ checkpoint, confirm: 'always' });
    return { root: place.workspace, workspace, capture, restore };
  }

  test('a file that grew over the limit since is restored, and held as it was', async () => {
    const { root, workspace, capture, restore } = await scene({
      'a.txt': 'small',
      'waymark.toml': '[limits]\nmax_file_bytes = 100\n',
    });
    const first = await capture();
    const grown = 'x'.repeat(5000);
    writeFiles(root, { 'a.txt': grown, 'new.bin': grown });
    const before = treeListing(root);
    const result = await restore(first);
    expect(result.skipped).toEqual([]);
    expect(readText(root, 'a.txt')).toBe('small');
    expect(existsSync(path.join(root, 'new.bin'))).toBe(false);
    await workspace.undo({ confirm: 'always' });
    expect(treeListing(root)).toEqual(before);
  });

  test('a restore that brings back what is ignored by now is undone exactly, and redone', async () => {
    const { root, workspace, capture, restore } = await scene({ 'd/tmp/a': 'a', 'd/tmp/deep/b': 'b' });
    const first = await capture();
    rmSync(path.join(root, 'd'), { recursive: true });
    writeFiles(root, { d: 'a file now', '.waymarkignore': 'tmp\n' });
    const before = treeListing(root);
    await restore(first);
    const after = treeListing(root);
    expect((await workspace.undo({ confirm: 'always' })).skipped).toEqual([]);
    expect(treeListing(root)).toEqual(before);
    expect((await workspace.redo({ confirm: 'always' })).skipped).toEqual([]);
    expect(treeListing(root)).toEqual(after);
  });

  test('directories that are there, but excluded, are not reported as created', async () => {
    const { root, workspace, capture, restore } = await scene({ 'a/b/f': 'one' });
    const first = await capture();
    writeFiles(root, { 'a/b/f': 'two', 'waymark.toml': '[scope]\nexclude = ["**"]\n' });
    const { changes } = await restore(first);
    expect(changes).toEqual([{ path: 'a/b/f', action: 'modify' }]);
    expect((await workspace.undo({ confirm: 'always' })).changes).toEqual(changes);
    expect((await workspace.redo({ confirm: 'always' })).changes).toEqual(changes);
    expect(readText(root, 'a/b/f')).toBe('one');
  });

  test('a directory that holds a .git stays, with all of it where a file would take its place; the plan says so', async () => {
    const { root, workspace, capture, restore } = await scene({ place: 'a file', keep: 'k' });
    const first = await capture();
    rmSync(path.join(root, 'place'));
    writeFiles(root, { 'place/a.txt': 'a', 'new/b.txt': 'b' });
    for (const name of ['place', 'new']) {
      mkdirSync(path.join(root, name, '.git'));
      writeFileSync(path.join(root, name, '.git/HEAD'), 'ref');
    }
    const planned = await workspace.restore({ checkpoint: first, dryRun: true });
    const result = await restore(first);
    expect(result.changes).toEqual([{ path: 'new/b.txt', action: 'delete' }]);
    expect({ changes: planned.changes, skipped: planned.skipped }).toEqual({
      changes: result.changes,
      skipped: result.skipped,
    });
    expect(readText(root, 'place/a.txt')).toBe('a');
    for (const name of ['place', 'new']) expect(readText(root, `${name}/.git/HEAD`)).toBe('ref');
  });

  test('DL-07: a checkpoint of a directory in a directory proves what was not in it', async () => {
    const { root, capture, restore } = await scene({ 'web/app/a': 'v1', 'web/other': 'v1' });
    const first = await capture(['web/app']);
    writeFiles(root, { 'web/app/new': 'new', 'web/new': 'new', 'web/other': 'v2' });
    const { changes } = await restore(first);
    expect(changes).toEqual([{ path: 'web/app/new', action: 'delete' }]);
  });
});
