import { ENGINE_NAMES } from '../../domain/checkpoint.ts';
import { CHANGE_ACTIONS } from '../../domain/diff.ts';
import { WaymarkError } from '../../domain/errors.ts';
import { isContentHash, isDirHash, isUlid, parseSessionId } from '../../domain/ids.ts';
import { OPERATION_KINDS } from '../../domain/operation.ts';
import { parseRelPath } from '../../domain/rel-path.ts';
import type { Entry } from '../../domain/snapshot.ts';
import type { RestoreAction } from '../plan/restore-plan.ts';
import type { RestoreJournal } from './restore-journal.ts';

const FORMAT = 1;

/** JSON; nanoseconds as decimal strings, names that are not UTF-8 as lone surrogates, escaped. */
export function encodeJournal(journal: RestoreJournal): Buffer {
  const actions = journal.actions.map(({ before, after, ...action }) => ({
    ...action,
    before: before && { ...before, mtimeNs: before.mtimeNs.toString() },
    after: after && { ...after, mtimeNs: after.mtimeNs.toString() },
  }));
  const text = JSON.stringify({ format: FORMAT, ...journal, actions });
  return Buffer.from(`${text}\n`, 'utf8');
}

/**
 * Reads a journal and trusts nothing in it: every path must stay below the workspace, every field have its type.
 *
 * @throws WaymarkError `FORMAT_UNSUPPORTED` for another format; any error for what is not a journal
 */
export function decodeJournal(bytes: Buffer): RestoreJournal {
  const { format, operationId, kind, workspace, sessionId, targetId, safetyId, engine, ...rest } = asObject(
    JSON.parse(bytes.toString('utf8')),
    'journal',
  );
  if (format !== FORMAT) {
    throw new WaymarkError('FORMAT_UNSUPPORTED', `Journal format ${String(format)} is not supported`);
  }
  const { startedAt, preserveMtime, actions, unlocked } = rest;
  return {
    operationId: asId(operationId, 'operationId'),
    kind: oneOf(OPERATION_KINDS, kind, 'kind'),
    workspace: asWorkspace(workspace),
    sessionId: sessionId === null ? null : parseSessionId(asText(sessionId, 'sessionId')),
    targetId: targetId === null ? null : asId(targetId, 'targetId'),
    safetyId: safetyId === null ? null : asId(safetyId, 'safetyId'),
    engine: oneOf(ENGINE_NAMES, engine, 'engine'),
    startedAt: asText(startedAt, 'startedAt'),
    preserveMtime: preserveMtime === true,
    actions: asList(actions, 'actions').map(asAction),
    unlocked: asList(unlocked, 'unlocked').map(asUnlocked),
  };
}

function asUnlocked(value: unknown): RestoreJournal['unlocked'][number] {
  const { path, mode } = asObject(value, 'unlocked');
  return { path: parseRelPath(asText(path, 'path')), mode: asMode(mode) };
}

function asWorkspace(value: unknown): RestoreJournal['workspace'] {
  const { path, dirHash, projectHash, inode, birthtimeNs } = asObject(value, 'workspace');
  const hashes = [asText(dirHash, 'dirHash'), asText(projectHash, 'projectHash')] as const;
  if (!isDirHash(hashes[0]) || !isDirHash(hashes[1])) throw invalid('workspace');
  return {
    path: asText(path, 'workspace.path'),
    dirHash: hashes[0],
    projectHash: hashes[1],
    inode: asText(inode, 'inode'),
    birthtimeNs: birthtimeNs === undefined ? undefined : asText(birthtimeNs, 'birthtimeNs'),
  };
}

function asAction(value: unknown): RestoreAction {
  const { path, action, before, after } = asObject(value, 'action');
  return {
    path: parseRelPath(asText(path, 'path')),
    action: oneOf(CHANGE_ACTIONS, action, 'action'),
    before: before === undefined ? undefined : asEntry(before),
    after: after === undefined ? undefined : asEntry(after),
  };
}

function asEntry(value: unknown): Entry {
  const { kind, mtimeNs: time, mode, hash, size, target, listing } = asObject(value, 'entry');
  const mtimeNs = asNanoseconds(time);
  switch (kind) {
    case 'file': {
      const name = asText(hash, 'hash');
      if (!isContentHash(name)) throw invalid('hash');
      return { kind, hash: name, size: asNumber(size, 'size'), mtimeNs, mode: asMode(mode) };
    }
    case 'symlink':
      return { kind, target: asText(target, 'target'), mtimeNs };
    case 'directory': {
      const known = oneOf(['complete', 'partial'] as const, listing, 'listing');
      return { kind, mode: asMode(mode), mtimeNs, listing: known };
    }
    default:
      throw invalid('kind');
  }
}

function asObject(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(name);
  return value as Readonly<Record<string, unknown>>;
}

function asList(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw invalid(name);
  return value;
}

function asText(value: unknown, name: string): string {
  if (typeof value !== 'string') throw invalid(name);
  return value;
}

function asNumber(value: unknown, name: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw invalid(name);
  return value;
}

function asMode(value: unknown): number {
  const mode = asNumber(value, 'mode');
  if (mode > 0o7777) throw invalid('mode');
  return mode;
}

function asNanoseconds(value: unknown): bigint {
  const text = asText(value, 'mtimeNs');
  if (!/^-?\d{1,30}$/.test(text)) throw invalid('mtimeNs');
  return BigInt(text);
}

function asId<Id extends string>(value: unknown, name: string): Id {
  const text = asText(value, name);
  if (!isUlid(text)) throw invalid(name);
  return text as Id;
}

function oneOf<T extends string>(known: readonly T[], value: unknown, name: string): T {
  const found = known.find((item) => item === value);
  if (found === undefined) throw invalid(name);
  return found;
}

function invalid(field: string): WaymarkError {
  return new WaymarkError('MANIFEST_INVALID', `The journal's ${field} is not valid`);
}
