import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'smol-toml';
import { type DiskTree, onDisk, readDiskTree } from './disk-tree.ts';
import { ignoreFileAt } from './reference-ignore.ts';
import type { Moment } from './reference-restore.ts';
import { classify, type ReferenceRules } from './reference-scope.ts';

/** What the model reads of a `waymark.toml`. */
interface ConfigurationFile {
  readonly limits?: { readonly max_file_bytes?: number; readonly max_total_bytes?: number };
  readonly scope?: { readonly include?: readonly string[]; readonly exclude?: readonly string[] };
}

/** A workspace as it is now, under its own rules or those of a run. */
export function momentOf(root: string, frozen?: ReferenceRules): Moment {
  const tree = readDiskTree(root);
  const rules = frozen ?? rulesOf(root, tree);
  return { tree, rules, statuses: classify(tree, rules), selection: [], partial: new Set() };
}

function rulesOf(root: string, tree: DiskTree): ReferenceRules {
  const text = tree.has('waymark.toml') ? readFileSync(path.join(root, 'waymark.toml'), 'utf8') : '';
  const { limits = {}, scope = {} }: ConfigurationFile = parse(text);
  return {
    maxFileBytes: limits.max_file_bytes ?? 8 * 1024 ** 2,
    maxTotalBytes: limits.max_total_bytes ?? 64 * 1024 ** 2,
    include: scope.include ?? [],
    exclude: scope.exclude ?? [],
    ignoreFiles: [...tree.keys()].flatMap((at) => {
      const file = ignoreFileAt(at);
      if (file === undefined || tree.get(at)?.kind !== 'file') return [];
      return [{ ...file, lines: readFileSync(onDisk(root, at), 'utf8').split('\n') }];
    }),
    tracked: tree.has('.git/HEAD') ? trackedIn(root) : new Set(),
  };
}

function trackedIn(root: string): ReadonlySet<string> {
  const listed = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'latin1' });
  return new Set(listed.split('\0').filter((at) => at !== ''));
}
