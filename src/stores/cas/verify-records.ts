import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { relative } from 'node:path';
import type { CheckpointRecord } from '../../domain/checkpoint.ts';
import { isWaymarkError, WaymarkError } from '../../domain/errors.ts';
import type { ContentHash } from '../../domain/ids.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import { verifyTree } from '../entry-tree/verify-tree.ts';
import { decodeRules } from '../rules-blob.ts';
import type { StoreProblem } from '../snapshot-store.ts';
import type { Pack } from './packs/pack.ts';
import type { PackSet } from './packs/pack-set.ts';

/**
 * Reads everything the records need, each blob once, and the packs that hold it. A damaged blob is named for every checkpoint and path that needs
 * it; a damaged pack by its file.
 */
export function verifyRecords(
  packs: PackSet,
  home: string,
  records: Iterable<CheckpointRecord>,
): readonly StoreProblem[] {
  packs.rescan();
  const problems: StoreProblem[] = [];
  const results = new Map<ContentHash, WaymarkError | undefined>();
  const used = new Map<string, Pack>();
  const whole = new Set<ContentHash>();
  let missing = false;

  const touch = (hash: ContentHash): void => {
    for (const pack of packs.holdersOf(hash)) used.set(pack.path, pack);
  };
  const checkContent = (hash: ContentHash): WaymarkError | undefined => {
    if (!results.has(hash)) {
      touch(hash);
      results.set(
        hash,
        failureOf(() => readThrough(packs, hash)),
      );
    }
    return results.get(hash);
  };

  for (const record of records) {
    const report = (hash: ContentHash, path: RelPath | undefined, error: WaymarkError): void => {
      const code = problemCode(error);
      missing ||= code === 'OBJECT_MISSING';
      problems.push({ where: hash, code, message: error.message, checkpointId: record.id, path });
    };
    const { root, rules } = record.snapshot;
    const rulesError =
      checkContent(rules) ??
      failureOf(() => {
        decodeRules(packs.read(rules));
      });
    if (rulesError) report(rules, undefined, rulesError);
    const readNode = (hash: ContentHash): Buffer => {
      touch(hash);
      return packs.read(hash);
    };
    verifyTree(root, { readNode, checkContent, onProblem: report, whole });
  }
  for (const pack of used.values()) {
    const error = failureOf(() => checkPackHash(pack));
    if (error) problems.push(packProblem(home, pack.path, error));
  }
  if (missing) {
    for (const [path, error] of packs.damaged) problems.push(packProblem(home, path, error));
  }
  return problems;
}

function readThrough(packs: PackSet, hash: ContentHash): void {
  for (const _ of packs.stream(hash));
}

/** Compares the file's hash with its name. */
function checkPackHash(pack: Pack): void {
  const digest = createHash('sha256');
  const buffer = Buffer.allocUnsafe(1024 ** 2);
  const fd = openSync(pack.path, 'r');
  try {
    for (;;) {
      const count = readSync(fd, buffer);
      if (count === 0) break;
      digest.update(buffer.subarray(0, count));
    }
  } finally {
    closeSync(fd);
  }
  if (digest.digest('hex') !== pack.name) {
    throw new WaymarkError('OBJECT_CORRUPT', `Pack ${pack.path} does not match its name`);
  }
}

function packProblem(home: string, path: string, error: WaymarkError): StoreProblem {
  return {
    where: relative(home, path),
    code: problemCode(error),
    message: error.message,
    checkpointId: undefined,
    path: undefined,
  };
}

function problemCode(error: WaymarkError): StoreProblem['code'] {
  switch (error.code) {
    case 'OBJECT_MISSING':
    case 'MANIFEST_INVALID':
    case 'FORMAT_UNSUPPORTED':
      return error.code;
    case 'UNSAFE_PATH':
      return 'MANIFEST_INVALID';
    default:
      return 'OBJECT_CORRUPT';
  }
}

function failureOf(body: () => void): WaymarkError | undefined {
  try {
    body();
    return undefined;
  } catch (error) {
    if (isWaymarkError(error)) return error;
    if (error instanceof Error) return new WaymarkError('IO_ERROR', error.message, { cause: error });
    throw error;
  }
}
