import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type CheckpointId, isUlid } from '../../domain/ids.ts';
import type { ObjectName } from './fast-import.ts';
import { readPins } from './pins.ts';
import { contentRef, manifestRef, PENDING } from './ref-names.ts';
import { type ShadowContext, shadowGit } from './shadow-context.ts';

/** A published checkpoint as its refs show it. */
export interface CheckpointRef {
  readonly id: CheckpointId;
  readonly commit: ObjectName;
  readonly message: string;
  readonly manifestCommit: ObjectName;
  /** `<session> <seq>` */
  readonly place: string;
  readonly pinned: boolean;
}

export interface ShadowRefs {
  /** newest first */
  readonly checkpoints: readonly CheckpointRef[];
  /** refs of captures that never came to be, or were dropped halfway */
  readonly leftovers: readonly string[];
  readonly pending: readonly string[];
}

const SEPARATOR = '\u0001';
const FORMAT = ['%(refname)', '%(objectname)', '%(contents:subject)'].join('%01');

/** Lists the refs of the repository. */
export async function readRefs(context: ShadowContext): Promise<ShadowRefs> {
  const { stdout } = await shadowGit(context, { args: ['for-each-ref', `--format=${FORMAT}`] });
  const refs = new Map<string, readonly [ObjectName, string]>();
  for (const line of stdout.toString('utf8').split('\n')) {
    const [name, object, subject = ''] = line.split(SEPARATOR);
    if (name && object) refs.set(name, [object, subject]);
  }
  const checkpoints: CheckpointRef[] = [];
  const used = new Set<string>();
  const pins = readPins(context.gitDir);
  for (const [name, [commit, message]] of refs) {
    const id = name.slice(contentRef('' as CheckpointId).length) as CheckpointId;
    const manifest = refs.get(manifestRef(id));
    if (name !== contentRef(id) || !isUlid(id) || manifest === undefined) continue;
    const pinned = pins.has(id);
    checkpoints.push({ id, commit, message, manifestCommit: manifest[0], place: manifest[1], pinned });
    used.add(name).add(manifestRef(id));
  }
  checkpoints.sort((a, b) => (a.id < b.id ? 1 : -1));
  const pending = [...refs.keys()].filter((name) => name.startsWith(PENDING));
  const leftovers = [...refs.keys()].filter((name) => isOurs(name) && !used.has(name));
  return { checkpoints, leftovers, pending };
}

/** Refs that a person made (a tag, a branch of another name) are left alone. */
function isOurs(name: string): boolean {
  const id = name.slice(name.lastIndexOf('/') + 1);
  return [contentRef, manifestRef].some((ref) => name === ref(id as CheckpointId)) && isUlid(id);
}

/** Deletes refs, all or none, durably. */
export async function deleteRefs(context: ShadowContext, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  await shadowGit(context, {
    args: ['update-ref', '--stdin', '-z'],
    input: ['start', ...names.map((name) => `delete ${name}\0`), 'prepare', 'commit']
      .map((line) => `${line}\0`)
      .join(''),
  });
  syncRefs(context);
}

/** Git flushes the files of refs and not the directories that name them. */
export function syncRefs({ fs, gitDir }: ShadowContext): void {
  for (const name of ['heads', 'waymark/manifests', 'waymark', '']) {
    const directory = join(gitDir, 'refs', name);
    if (existsSync(directory)) fs.fsyncDirectory(directory);
  }
}
