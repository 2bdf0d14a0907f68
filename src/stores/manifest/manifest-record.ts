import type { CheckpointRecord, CheckpointType, EngineName } from '../../domain/checkpoint.ts';
import type { Coverage } from '../../domain/coverage.ts';
import { WaymarkError } from '../../domain/errors.ts';
import {
  type CheckpointId,
  type ContentHash,
  type DecisionId,
  type DirHash,
  isContentHash,
  isDirHash,
  isUlid,
  type PlanId,
  parseSessionId,
  type RunId,
} from '../../domain/ids.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { Skip, SkipReason } from '../../domain/snapshot.ts';
import type { FieldReader } from './field-reader.ts';

/** Builds the record from a manifest's fields. Types and reasons that this version does not know stay as they are written. */
export function recordFrom(manifest: FieldReader): CheckpointRecord {
  const workspace = manifest.object('workspace');
  const metadata = manifest.object('metadata');
  const git = manifest.objectOrNull('git');
  const snapshot = manifest.object('snapshot');
  const sourceTool = metadata.optionalText('source_tool');
  const phase = metadata.optionalText('phase');
  return {
    id: manifest.parsed('checkpoint_id', ulid<CheckpointId>),
    sessionId: manifest.parsed('session_id', parseSessionId),
    seq: manifest.count('seq'),
    workspace: {
      path: workspace.text('path'),
      dirHash: workspace.parsed('dir_hash', dirHash),
      projectHash: workspace.parsed('project_hash', dirHash),
      inode: workspace.text('inode'),
      birthtimeNs: workspace.optionalText('birthtime_ns'),
    },
    type: manifest.text('checkpoint_type') as CheckpointType,
    createdAt: manifest.parsed('created_at', time),
    metadata: {
      reason: manifest.text('reason'),
      source: manifest.text('source'),
      ...(sourceTool !== undefined && { sourceTool }),
      ...(phase !== undefined && { phase }),
      ...(metadata.has('extra') && { extra: metadata.record('extra') }),
    },
    label: manifest.textOrNull('label'),
    runId: manifest.textOrNull('run_id') as RunId | null,
    planId: manifest.parsedOrNull('plan_id', ulid<PlanId>),
    decisionId: manifest.parsedOrNull('decision_id', ulid<DecisionId>),
    resourceId: manifest.textOrNull('resource_id'),
    engine: manifest.text('engine') as EngineName,
    git: git && { head: git.textOrNull('head'), branch: git.textOrNull('branch') },
    snapshot: {
      root: snapshot.parsed('root', contentHash),
      rules: snapshot.parsed('rules', contentHash),
      truncated: snapshot.boolean('truncated'),
    },
    coverage: coverageFrom(manifest.object('coverage')),
    sizeBytes: manifest.count('size_bytes'),
  };
}

function coverageFrom(coverage: FieldReader): Coverage {
  const counts: Partial<Record<SkipReason, number>> = {};
  const counted = coverage.object('counts');
  for (const reason of Object.keys(coverage.record('counts'))) {
    counts[reason as SkipReason] = counted.count(reason);
  }
  return {
    status: coverage.text('status') === 'complete' ? 'complete' : 'partial',
    stored: coverage.count('stored'),
    counts,
    skipped: coverage.list('skipped').map((skip): Skip => {
      const detail = skip.optionalText('detail');
      return {
        path: skip.text('path') as RelPath,
        reason: skip.text('reason') as SkipReason,
        ...(detail !== undefined && { detail }),
      };
    }),
  };
}

function ulid<Id extends CheckpointId | PlanId | DecisionId>(text: string): Id {
  return isUlid(text) ? (text as Id) : no(text);
}

function dirHash(text: string): DirHash {
  return isDirHash(text) ? text : no(text);
}

function contentHash(text: string): ContentHash {
  return isContentHash(text) ? text : no(text);
}

function time(text: string): string {
  return Number.isNaN(Date.parse(text)) ? no(text) : text;
}

function no(text: string): never {
  throw new WaymarkError('VALIDATION_ERROR', `"${text}" has the wrong form`);
}
