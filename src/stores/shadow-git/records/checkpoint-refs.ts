import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isWaymarkError } from '../../../domain/errors.ts';
import { type CheckpointId, isUlid } from '../../../domain/ids.ts';
import { syncDirectory } from '../../../platform/durable-write.ts';
import type { ObjectName } from '../repository/fast-import.ts';
import type { ObjectReader } from '../repository/object-reader.ts';
import { type ShadowContext, shadowGit } from '../repository/shadow-context.ts';
import { awaitRefLocks } from '../repository/stage-lock.ts';
import { readPins } from './pins.ts';
import { contentRef, manifestRef, PENDING } from './ref-names.ts';

/** A published checkpoint as its refs show it. */
export interface CheckpointRef {
  readonly id: CheckpointId;
  readonly commit: ObjectName;
  readonly manifestCommit: ObjectName;
  /** `<reason> | <timestamp> | <source>`; undefined where the commit can't be read */
  readonly message: string | undefined;
  /** `<session> <seq>`; undefined where the manifest's commit can't be read */
  readonly place: string | undefined;
  readonly pinned: boolean;
}

export interface ShadowRefs {
  /** newest first */
  readonly checkpoints: readonly CheckpointRef[];
  /** refs of captures that never came to be, or were dropped halfway */
  readonly leftovers: readonly string[];
  readonly pending: readonly string[];
}

/** Lists the refs of the repository; damaged objects behind them hide nothing. */
export async function readRefs(context: ShadowContext, reader: ObjectReader): Promise<ShadowRefs> {
  const { stdout } = await shadowGit(context, {
    args: ['for-each-ref', '--format=%(objectname) %(refname)'],
  });
  const lines = stdout.toString('utf8').split('\n').slice(0, -1);
  const refs = new Map(lines.map((line) => [line.slice(41), line.slice(0, 40)]));
  const pins = readPins(context.gitDir);
  const used = new Set<string>();
  const found: Promise<CheckpointRef>[] = [];
  for (const [name, commit] of refs) {
    const id = name.slice(contentRef('' as CheckpointId).length) as CheckpointId;
    const manifestCommit = refs.get(manifestRef(id));
    if (name !== contentRef(id) || !isUlid(id) || manifestCommit === undefined) continue;
    used.add(name).add(manifestRef(id));
    found.push(describe(reader, { id, commit, manifestCommit, pinned: pins.has(id) }));
  }
  const checkpoints = (await Promise.all(found)).sort((a, b) => (a.id < b.id ? 1 : -1));
  const pending = [...refs.keys()].filter((name) => name.startsWith(PENDING));
  const leftovers = [...refs.keys()].filter((name) => isOurs(name) && !used.has(name));
  return { checkpoints, leftovers, pending };
}

async function describe(
  reader: ObjectReader,
  ref: Omit<CheckpointRef, 'message' | 'place'>,
): Promise<CheckpointRef> {
  const [message, place] = await Promise.all([
    firstLine(reader, ref.commit),
    firstLine(reader, ref.manifestCommit),
  ]);
  return { ...ref, message, place };
}

/** First line of a commit's message. */
async function firstLine(reader: ObjectReader, commit: ObjectName): Promise<string | undefined> {
  try {
    const text = (await reader.read(commit)).content.toString('utf8');
    const start = text.indexOf('\n\n') + 2;
    return text.slice(start, text.indexOf('\n', start));
  } catch (error) {
    if (isWaymarkError(error, 'OBJECT_MISSING', 'OBJECT_CORRUPT')) return undefined;
    throw error;
  }
}

/** Refs that a person made (a tag, a branch of another name) are left alone. */
function isOurs(name: string): boolean {
  const id = name.slice(name.lastIndexOf('/') + 1);
  return [contentRef, manifestRef].some((ref) => name === ref(id as CheckpointId)) && isUlid(id);
}

/** Deletes refs, all or none, durably. */
export async function deleteRefs(context: ShadowContext, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  await awaitRefLocks(context, names);
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
  for (const name of ['heads', 'waymark/manifests', 'waymark']) {
    const directory = join(gitDir, 'refs', name);
    if (existsSync(directory)) syncDirectory(fs, directory);
  }
}
