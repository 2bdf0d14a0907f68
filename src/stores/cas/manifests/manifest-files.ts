import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isWaymarkError, WaymarkError } from '../../../domain/errors.ts';
import { parseSessionId, type SessionId } from '../../../domain/ids.ts';
import type { HomeLayout } from '../../../platform/home-layout.ts';
import { errorCode, systemError } from '../../../platform/system-error.ts';
import { decodeManifest } from '../../manifest/manifest-codec.ts';
import type { StoredManifest, StoreProblem } from '../../snapshot-store.ts';

const MANIFEST = /^(\d{4,15})\.json$/;

/** A manifest is a few KiB; what is larger than this is none. */
const MAX_BYTES = 64 * 1024 ** 2;

/** Which manifest: its file is `<session>/<seq, at least 4 digits>.json`. */
export interface ManifestPlace {
  readonly sessionId: SessionId;
  readonly seq: number;
}

export function manifestPath(layout: HomeLayout, { sessionId, seq }: ManifestPlace): string {
  return join(layout.checkpoints, sessionId, `${seq.toString().padStart(4, '0')}.json`);
}

export function pinPath(layout: HomeLayout, { sessionId, seq }: ManifestPlace): string {
  return join(layout.checkpoints, sessionId, `${seq.toString().padStart(4, '0')}.pin`);
}

/**
 * Reads one manifest.
 *
 * @throws WaymarkError `OBJECT_MISSING`, `MANIFEST_INVALID` (damaged, or it speaks of another checkpoint than its name), `FORMAT_UNSUPPORTED`,
 * `PERMISSION_DENIED`, `IO_ERROR`
 */
export function readManifest(layout: HomeLayout, place: ManifestPlace): StoredManifest {
  const path = manifestPath(layout, place);
  const name = relative(layout.home, path);
  const { record, digest } = decodeManifest(readFile(path), name);
  if (record.sessionId !== place.sessionId || record.seq !== place.seq) {
    throw new WaymarkError(
      'MANIFEST_INVALID',
      `${name} holds checkpoint ${record.sessionId} ${record.seq}, which its name does not say`,
    );
  }
  return {
    record,
    digest,
    sandboxRef: `cas:${record.sessionId}/${record.seq}`,
    filesystemPath: name,
    pinned: exists(pinPath(layout, place)),
  };
}

/** Reads all manifests of all sessions; what cannot be read comes back as problems, by name. */
export function readManifests(layout: HomeLayout): {
  readonly manifests: readonly StoredManifest[];
  readonly problems: readonly StoreProblem[];
} {
  const manifests: StoredManifest[] = [];
  const problems: StoreProblem[] = [];
  for (const session of list(layout.checkpoints)) {
    if (session === 'blobs' || session.startsWith('.')) continue;
    try {
      for (const file of list(join(layout.checkpoints, session))) {
        if (!file.endsWith('.json') || file.startsWith('.')) continue;
        try {
          manifests.push(readManifest(layout, placeOf(session, file)));
        } catch (error) {
          if (!isWaymarkError(error, 'OBJECT_MISSING')) problems.push(problemOf(`${session}/${file}`, error));
        }
      }
    } catch (error) {
      problems.push(problemOf(session, error));
    }
  }
  return { manifests, problems };

  function problemOf(name: string, error: unknown): StoreProblem {
    if (!isWaymarkError(error)) throw error;
    const code = error.code === 'FORMAT_UNSUPPORTED' ? error.code : 'MANIFEST_INVALID';
    const where = relative(layout.home, join(layout.checkpoints, name));
    return { where, code, message: error.message, checkpointId: undefined, path: undefined };
  }
}

function placeOf(session: string, file: string): ManifestPlace {
  const digits = MANIFEST.exec(file)?.[1];
  const seq = Number(digits);
  if (digits === undefined || seq.toString().padStart(4, '0') !== digits) {
    throw new WaymarkError('MANIFEST_INVALID', `checkpoints/${session}/${file} is not named as a manifest`);
  }
  return { sessionId: parseSessionId(session), seq };
}

function readFile(path: string): Buffer {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(fd);
    if (!stats.isFile() || stats.size > MAX_BYTES) {
      throw new WaymarkError('MANIFEST_INVALID', `${path} is no manifest`);
    }
    return readFileSync(fd);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') throw new WaymarkError('OBJECT_MISSING', `${path} is missing`, { cause: error });
    if (code === 'ELOOP')
      throw new WaymarkError('MANIFEST_INVALID', `${path} is a symlink`, { cause: error });
    throw systemError(error, 'read', path);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function exists(path: string): boolean {
  try {
    closeSync(openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW));
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw systemError(error, 'read', path);
  }
}

/** Names in a directory, none where it is missing or a plain file. */
function list(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw systemError(error, 'list', directory);
  }
}
