import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import type { CheckpointId, ContentHash, DirHash, OperationId } from '../../domain/ids.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import { createFileSystem } from '../../platform/node-file-system.ts';
import {
  closeJournal,
  hasJournal,
  journaledCheckpoints,
  openJournal,
  openJournals,
  readJournal,
} from './journal.ts';
import type { RestoreJournal } from './restore-journal.ts';

const DIR_HASH = '0123456789abcdef' as DirHash;
const ID = '01J00000000000000000000000';
const fs = createFileSystem();
let layout: { journal: string };
let journal: Omit<RestoreJournal, 'unlocked'>;

beforeEach(() => {
  const temporary = temporaryDirectory();
  onTestFinished(() => temporary[Symbol.dispose]());
  const root = `${temporary.path}/w`;
  mkdirSync(`${root}/ro`, { recursive: true });
  fs.chmod(`${root}/ro`, 0o555);
  layout = { journal: `${temporary.path}/home/journal` };
  journal = {
    operationId: ID as OperationId,
    kind: 'restore',
    workspace: { path: root, dirHash: DIR_HASH, projectHash: DIR_HASH, inode: '12', birthtimeNs: '345' },
    sessionId: null,
    targetId: ID as CheckpointId,
    safetyId: '01J00000000000000000000001' as CheckpointId,
    engine: 'cas',
    startedAt: '2026-01-01T00:00:00.000Z',
    preserveMtime: true,
    actions: [
      {
        path: 'ro/f\udcff\n' as RelPath,
        action: 'type',
        before: {
          kind: 'file',
          hash: 'a'.repeat(64) as ContentHash,
          size: 7,
          mtimeNs: 2n ** 62n + 1n,
          mode: 0o4755,
        },
        after: { kind: 'symlink', target: '\udc80 x', mtimeNs: -5n },
      },
      {
        path: 'z' as RelPath,
        action: 'create',
        before: undefined,
        after: { kind: 'directory', mode: 0o2750, mtimeNs: 0n, listing: 'partial' },
      },
    ],
  };
});

describe('a journal', () => {
  test('is read back as it was written, with exact times, any name, and the closed directories', () => {
    const opened = openJournal(fs, layout, journal);
    expect(opened).toEqual({ ...journal, unlocked: [{ path: 'ro', mode: 0o555 }] });
    expect(readJournal(layout, DIR_HASH)).toEqual(opened);
    expect(statSync(`${layout.journal}/${DIR_HASH}.json`).mode & 0o777).toBe(0o600);
    expect(statSync(layout.journal).mode & 0o777).toBe(0o700);
    expect(journaledCheckpoints(layout)).toEqual([ID, '01J00000000000000000000001']);
  });

  test('is open from its writing to its closing, and there is one at a time', () => {
    expect(hasJournal(layout, DIR_HASH)).toBe(false);
    expect(openJournals(layout)).toEqual([]);
    openJournal(fs, layout, journal);
    expect(hasJournal(layout, DIR_HASH)).toBe(true);
    expect(openJournals(layout)).toEqual([DIR_HASH]);
    expect(() => openJournal(fs, layout, journal)).toThrow(
      expect.objectContaining({ code: 'RESTORE_INTERRUPTED' }),
    );
    closeJournal(fs, layout, DIR_HASH);
    closeJournal(fs, layout, DIR_HASH);
    expect(readJournal(layout, DIR_HASH)).toBeUndefined();
  });

  test('that cannot be read is named and stays', () => {
    openJournal(fs, layout, journal);
    const path = `${layout.journal}/${DIR_HASH}.json`;
    const text = readFileSync(path, 'utf8');
    const damage: readonly [string, string][] = [
      [text.slice(0, 100), 'MANIFEST_INVALID'],
      ['', 'MANIFEST_INVALID'],
      ['[]', 'MANIFEST_INVALID'],
      [text.replace('"format":1', '"format":2'), 'FORMAT_UNSUPPORTED'],
      [text.replace('"z"', '"../evil"'), 'MANIFEST_INVALID'],
      [text.replace('"z"', '"/etc/x"'), 'MANIFEST_INVALID'],
      [text.replace('"z"', '".git/hooks/x"'), 'MANIFEST_INVALID'],
      [text.replace(ID, '../../x'), 'MANIFEST_INVALID'],
      [text.replace('"mtimeNs":"-5"', '"mtimeNs":-5'), 'MANIFEST_INVALID'],
      [text.replace('"mode":2541', '"mode":99999'), 'MANIFEST_INVALID'],
    ];
    for (const [bad, code] of damage) {
      writeFileSync(path, bad);
      const error = expect.objectContaining({ code, message: expect.stringContaining(path) });
      expect(() => readJournal(layout, DIR_HASH), bad.slice(0, 40)).toThrow(error);
      expect(() => journaledCheckpoints(layout)).toThrow(error);
      expect(hasJournal(layout, DIR_HASH)).toBe(true);
      expect(existsSync(path)).toBe(true);
    }
  });
});
