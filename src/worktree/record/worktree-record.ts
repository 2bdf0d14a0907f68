import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WaymarkError } from '../../domain/errors.ts';
import type { ContentHash, RunId } from '../../domain/ids.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import { durableWrite } from '../../platform/durable-write.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import type { WorktreeHome } from './worktree-home.ts';

/** One path that was brought into a worktree, as it was then. `absent`: it was deleted there, as in the checkout it came from. */
export interface Seed {
  readonly path: RelPath;
  /** `include`: named by `.worktreeinclude`; `change`: an uncommitted change of the checkout */
  readonly source: 'include' | 'change';
  readonly state:
    | { readonly kind: 'file'; readonly hash: ContentHash; readonly size: number; readonly mode: number }
    | { readonly kind: 'symlink'; readonly target: string }
    | { readonly kind: 'absent' };
}

/** A submodule that was checked out in a worktree, as it was then. */
export interface SeededSubmodule {
  readonly path: RelPath;
  readonly commit: string;
  /** SHA-256 over its refs */
  readonly refsDigest: string;
}

/**
 * Where a worktree stands: `creating` until it is whole, `in_use` while its run goes on, `kept` once the run has ended,
 * `removing` from the first file that goes.
 */
export const WORKTREE_PHASES = ['creating', 'in_use', 'kept', 'removing'] as const;
export type WorktreePhase = (typeof WORKTREE_PHASES)[number];

/** What is known of a worktree besides git's own entry. It lies beside the worktree, so that it outlives any crash. */
export interface WorktreeRecord {
  readonly format: 1;
  readonly runId: RunId;
  readonly phase: WorktreePhase;
  /** commit it started from */
  readonly base: string;
  /** full ref name of the branch that was checked out there; null where HEAD was detached */
  readonly baseBranch: string | null;
  /** top level of the checkout it was made from */
  readonly origin: string;
  /** UTC, ISO 8601 with milliseconds */
  readonly createdAt: string;
  /** names below `worktrees/` in the git directory that were taken before */
  readonly entriesBefore: readonly string[];
  readonly seeds: readonly Seed[];
  readonly submodules: readonly SeededSubmodule[];
}

export function recordPath(home: WorktreeHome, runId: RunId): string {
  return join(home.directory, `${runId}.json`);
}

/**
 * Reads a record; undefined: there is none.
 *
 * @throws WaymarkError `MANIFEST_INVALID`, `FORMAT_UNSUPPORTED`
 */
export function readRecord(home: WorktreeHome, runId: RunId): WorktreeRecord | undefined {
  const path = recordPath(home, runId);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isFile()) throw invalid(path);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw invalid(path, cause);
  }
  if (!isObject<WorktreeRecord>(value)) throw invalid(path);
  if (value.format !== 1) {
    throw new WaymarkError('FORMAT_UNSUPPORTED', `${path} has format ${JSON.stringify(value.format)}, not 1`);
  }
  if (!isRecord(value) || value.runId !== runId) throw invalid(path);
  return value;
}

/** Writes a record durably, mode 0600. */
export function writeRecord(fs: FileSystem, home: WorktreeHome, record: WorktreeRecord): void {
  durableWrite(fs, recordPath(home, record.runId), Buffer.from(`${JSON.stringify(record)}\n`));
}

export function dropRecord(fs: FileSystem, home: WorktreeHome, runId: RunId): void {
  const path = recordPath(home, runId);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
  fs.unlink(path);
  fs.fsyncDirectory(home.directory);
}

function isRecord(value: Loose<WorktreeRecord>): value is WorktreeRecord {
  return (
    (WORKTREE_PHASES as readonly unknown[]).includes(value.phase) &&
    isCommit(value.base) &&
    (value.baseBranch === null || typeof value.baseBranch === 'string') &&
    typeof value.origin === 'string' &&
    typeof value.createdAt === 'string' &&
    isListOf(value.entriesBefore, (name) => typeof name === 'string') &&
    isListOf(value.seeds, isSeed) &&
    isListOf(value.submodules, isSubmodule)
  );
}

function isSeed(value: unknown): boolean {
  if (!isObject<Seed>(value) || typeof value.path !== 'string') return false;
  if (value.source !== 'include' && value.source !== 'change') return false;
  const { state } = value;
  if (!isObject<{ kind: 0; hash: 0; size: 0; mode: 0; target: 0 }>(state)) return false;
  const { kind, hash, size, mode, target } = state;
  if (kind === 'file')
    return typeof hash === 'string' && typeof size === 'number' && typeof mode === 'number';
  return kind === 'symlink' ? typeof target === 'string' : kind === 'absent';
}

function isSubmodule(value: unknown): boolean {
  if (!isObject<SeededSubmodule>(value)) return false;
  return typeof value.path === 'string' && isCommit(value.commit) && typeof value.refsDigest === 'string';
}

function isCommit(value: unknown): boolean {
  return typeof value === 'string' && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value);
}

function isListOf(value: unknown, check: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(check);
}

/** What was read and is still to be checked. */
type Loose<T> = { readonly [Key in keyof T]?: unknown };

function isObject<T>(value: unknown): value is Loose<T> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(path: string, cause?: unknown): WaymarkError {
  return new WaymarkError('MANIFEST_INVALID', `${path} is damaged`, { cause });
}
