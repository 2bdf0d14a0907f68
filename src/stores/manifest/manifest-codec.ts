import { hash as digestOf } from 'node:crypto';
import type { CheckpointRecord } from '../../domain/checkpoint.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { ContentHash } from '../../domain/ids.ts';
import type { Skip } from '../../domain/snapshot.ts';
import { FieldReader } from './field-reader.ts';
import { recordFrom } from './manifest-record.ts';

export const MANIFEST_FORMAT = 1;

/** Listed skips beyond these only count: the snapshot holds all of them, and a manifest should fit one disk block. */
const MAX_SKIPS = 20;
const MAX_SKIP_BYTES = 1536;

export interface DecodedManifest {
  readonly record: CheckpointRecord;
  readonly digest: ContentHash;
}

export interface EncodedManifest {
  readonly bytes: Buffer;
  readonly digest: ContentHash;
}

/**
 * A record as the bytes of its manifest: one line of JSON with snake_case keys, the last of them `digest`, the SHA-256 of the same JSON
 * without it.
 *
 * @throws WaymarkError `MANIFEST_INVALID` for a record with a field out of its range
 */
export function encodeManifest(record: CheckpointRecord): EncodedManifest {
  const { workspace, metadata, coverage, git } = record;
  const body = {
    format: MANIFEST_FORMAT,
    session_id: record.sessionId,
    seq: record.seq,
    checkpoint_id: record.id,
    workspace: {
      path: workspace.path,
      dir_hash: workspace.dirHash,
      project_hash: workspace.projectHash,
      inode: workspace.inode,
      birthtime_ns: workspace.birthtimeNs ?? null,
    },
    created_at: record.createdAt,
    checkpoint_type: record.type,
    reason: metadata.reason,
    source: metadata.source,
    label: record.label,
    run_id: record.runId,
    plan_id: record.planId,
    decision_id: record.decisionId,
    resource_id: record.resourceId,
    metadata: {
      ...(metadata.sourceTool !== undefined && { source_tool: metadata.sourceTool }),
      ...(metadata.phase !== undefined && { phase: metadata.phase }),
      ...(metadata.extra !== undefined && { extra: metadata.extra }),
    },
    engine: record.engine,
    git: git === null ? null : { head: git.head, branch: git.branch },
    snapshot: {
      root: record.snapshot.root,
      rules: record.snapshot.rules,
      truncated: record.snapshot.truncated,
    },
    coverage: {
      status: coverage.status,
      stored: coverage.stored,
      counts: coverage.counts,
      skipped: firstSkips(coverage.skipped),
    },
    size_bytes: record.sizeBytes,
  };
  const digest = digestOf('sha256', JSON.stringify(body), 'hex') as ContentHash;
  const bytes = Buffer.from(`${JSON.stringify({ ...body, digest })}\n`);
  // What can't be read back must not be published.
  decodeManifest(bytes, `The manifest of ${record.id}`);
  return { bytes, digest };
}

/**
 * Reads a manifest and checks its digest. Fields it does not know are ignored.
 *
 * @param name how errors call it
 * @throws WaymarkError `FORMAT_UNSUPPORTED` (nothing else of it is read), `MANIFEST_INVALID`
 */
export function decodeManifest(bytes: Buffer, name: string): DecodedManifest {
  const manifest = parse(bytes, name);
  const { digest, ...body } = manifest;
  const { format } = body;
  if (typeof format === 'number' && format !== MANIFEST_FORMAT) {
    throw new WaymarkError(
      'FORMAT_UNSUPPORTED',
      `${name} has format ${format}, known is ${MANIFEST_FORMAT}`,
      {
        hint: 'A newer version of Waymark wrote it',
      },
    );
  }
  if (format !== MANIFEST_FORMAT || digest !== digestOf('sha256', JSON.stringify(body), 'hex')) {
    throw new WaymarkError('MANIFEST_INVALID', `${name} does not match its digest`);
  }
  return { record: recordFrom(new FieldReader(body, name)), digest: digest as ContentHash };
}

function parse(
  bytes: Buffer,
  name: string,
): { format?: unknown; digest?: unknown } & Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new WaymarkError('MANIFEST_INVALID', `${name} is not JSON`, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new WaymarkError('MANIFEST_INVALID', `${name} is no JSON object`);
  }
  return value as Record<string, unknown>;
}

function firstSkips(skips: readonly Skip[]): readonly Skip[] {
  const first: Skip[] = [];
  let bytes = 0;
  for (const { path, reason, detail } of skips.slice(0, MAX_SKIPS)) {
    const skip: Skip = { path, reason, ...(detail !== undefined && { detail }) };
    bytes += Buffer.byteLength(JSON.stringify(skip));
    if (bytes > MAX_SKIP_BYTES) break;
    first.push(skip);
  }
  return first;
}
