import { hash as digestOf } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Checkpoint, CheckpointRecord } from '../../src/domain/checkpoint.ts';
import { coverageOf } from '../../src/domain/coverage.ts';
import type { CheckpointId, ContentHash } from '../../src/domain/ids.ts';
import type { RelPath } from '../../src/domain/rel-path.ts';
import type { SnapshotNode } from '../../src/domain/snapshot.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createGit } from '../../src/platform/git-process.ts';
import { homeLayout } from '../../src/platform/home-layout.ts';
import { createIds } from '../../src/platform/ids.ts';
import { createFileSystem } from '../../src/platform/node-file-system.ts';
import { filePackOutput } from '../../src/stores/cas/packs/pack-output.ts';
import { PackWriter } from '../../src/stores/cas/packs/pack-writer.ts';
import { encodeSegment } from '../../src/stores/entry-tree/segment-codec.ts';
import { encodeManifest } from '../../src/stores/manifest/manifest-codec.ts';
import { encodeRules } from '../../src/stores/rules-blob.ts';
import { snapshotTrailer } from '../../src/stores/shadow-git/objects/snapshot-trailer.ts';
import { NO_RULES } from './snapshot-views.ts';

const hashOf = (bytes: Uint8Array): ContentHash => digestOf('sha256', bytes, 'hex') as ContentHash;

/** A file entry whose content the forged checkpoint brings along. */
export const EVIL = Buffer.from('evil\n');
export const evilFile: SnapshotNode = {
  kind: 'file',
  hash: hashOf(EVIL),
  size: EVIL.length,
  mtimeNs: 1_764_550_000_000_000_000n,
  mode: 0o755,
};

/**
 * Puts a checkpoint with these entries into a home, past every check of the product: each hash and digest is right. The catalog is removed,
 * so that the next opening finds the checkpoint. No process may have the home open.
 *
 * @param like a checkpoint of the same workspace and engine
 */
export async function forgeCheckpoint(
  home: string,
  like: Checkpoint,
  items: readonly (readonly [string, SnapshotNode])[],
): Promise<string> {
  const segment = encodeSegment(items as readonly (readonly [RelPath, SnapshotNode])[]);
  const rules = encodeRules(NO_RULES);
  const {
    sandboxRef: _ref,
    filesystemPath: _path,
    digest: _digest,
    pinned: _pin,
    restorable: _sound,
    ...record
  } = like;
  const forged: CheckpointRecord = {
    ...record,
    id: createIds(systemClock).ulid() as CheckpointId,
    seq: like.seq + 1,
    snapshot: { root: hashOf(segment), rules: hashOf(rules), truncated: false },
    coverage: coverageOf(items.length, []),
  };
  const blobs = [segment, rules, EVIL];
  await (like.engine === 'git' ? intoShadow(home, forged, blobs) : intoPacks(home, forged, blobs));
  for (const name of readdirSync(home)) if (name.startsWith('catalog.db')) rmSync(join(home, name));
  return forged.id;
}

async function intoPacks(home: string, record: CheckpointRecord, blobs: readonly Buffer[]): Promise<void> {
  const layout = homeLayout(home);
  const writer = new PackWriter(filePackOutput(createFileSystem(), layout.blobs));
  for (const bytes of blobs) await writer.add(hashOf(bytes), bytes);
  await writer.finish();
  const path = join(layout.checkpoints, record.sessionId, `${record.seq.toString().padStart(4, '0')}.json`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, encodeManifest(record).bytes);
}

async function intoShadow(home: string, record: CheckpointRecord, blobs: readonly Buffer[]): Promise<void> {
  const { dirHash, projectHash } = record.workspace;
  const gitDir = join(homeLayout(home).projects, projectHash, 'checkpoints', dirHash);
  const all = [...blobs, encodeManifest(record).bytes];
  const who = `<${record.id}@waymark> ${Math.floor(Date.parse(record.createdAt) / 1000)} +0000`;
  const commit = (ref: string, message: string, files: readonly (readonly [string, number])[]): Buffer[] => [
    Buffer.from(`commit ${ref}\ncommitter x ${who}\ndata ${Buffer.byteLength(message)}\n${message}\n`),
    ...files.map(([path, mark]) => Buffer.from(`M 100644 :${mark} ${path}\n`)),
    Buffer.from('\n'),
  ];
  const { root, rules } = record.snapshot;
  const input = Buffer.concat([
    ...all.flatMap((bytes, at) => [
      Buffer.from(`blob\nmark :${at + 1}\ndata ${bytes.length}\n`),
      bytes,
      Buffer.from('\n'),
    ]),
    ...commit(`refs/heads/${record.id}`, 'forged', [['x', 3]]),
    ...commit(
      `refs/waymark/manifests/${record.id}`,
      `${record.sessionId} ${record.seq}\n\n${snapshotTrailer(root, rules)}`,
      [
        [`nodes/${root[0]}/${root.slice(1, 20)}`, 1],
        ['rules', 2],
        ['tree/x', 3],
        ['manifest.json', 4],
      ],
    ),
  ]);
  const git = createGit({ PATH: process.env['PATH'] });
  await git.run({ args: ['fast-import', '--quiet'], gitDir, input, isolated: true });
}
