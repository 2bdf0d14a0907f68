import { readdirSync } from 'node:fs';
import { decodeName, toFsPath } from '../domain/rel-path.ts';
import { findGitDirectory, type GitDirectory, readSmallFile } from './git-directory.ts';

/**
 * All refs of the repository that encloses a directory, by full name, with HEAD: object names, or `ref: <name>` for symbolic ones.
 * Undefined outside of any repository. Read from its files without running git, for the question which refs an agent moved.
 */
export function readGitRefs(directory: string): ReadonlyMap<string, string> | undefined {
  const git = findGitDirectory(directory);
  if (!git) return undefined;
  const refs = new Map(readPackedRefs(git));
  for (const base of new Set([git.commonDir, git.gitDir])) collectLoose(base, 'refs', refs);
  const head = readSmallFile(`${git.gitDir}/HEAD`)?.trim();
  if (head) refs.set('HEAD', head);
  return new Map([...refs].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The object name a ref leads to, through at most five symbolic refs; undefined where it leads nowhere. */
export function readRef(git: GitDirectory, name: string): string | undefined {
  let ref = name;
  for (let hop = 0; hop < 5; hop += 1) {
    if (!/^refs\/|^HEAD$/.test(ref) || ref.split('/').includes('..')) return undefined;
    const loose = readSmallFile(`${git.gitDir}/${ref}`) ?? readSmallFile(`${git.commonDir}/${ref}`);
    const value = loose?.trim() ?? readPackedRefs(git).get(ref);
    if (value === undefined || !value.startsWith('ref: ')) return value === '' ? undefined : value;
    ref = value.slice('ref: '.length).trim();
  }
  return undefined;
}

function readPackedRefs(git: GitDirectory): ReadonlyMap<string, string> {
  const refs = new Map<string, string>();
  for (const line of (readSmallFile(`${git.commonDir}/packed-refs`) ?? '').split('\n')) {
    const match = /^([0-9a-f]{40,64}) (.+)$/.exec(line);
    if (match?.[1] && match[2]) refs.set(match[2], match[1]);
  }
  return refs;
}

function collectLoose(base: string, ref: string, refs: Map<string, string>): void {
  for (const entry of list(`${base}/${ref}`)) {
    const name = `${ref}/${decodeName(entry.name)}`;
    if (entry.isDirectory()) collectLoose(base, name, refs);
    else {
      const value = readSmallFile(`${base}/${name}`)?.trim();
      if (value && !name.endsWith('.lock')) refs.set(name, value);
    }
  }
}

function list(directory: string) {
  try {
    return readdirSync(toFsPath(directory), { withFileTypes: true, encoding: 'buffer' });
  } catch {
    return [];
  }
}
