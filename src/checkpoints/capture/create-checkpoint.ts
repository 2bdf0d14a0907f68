import { CHECKPOINT_TYPES, type Checkpoint, type EngineName } from '../../domain/checkpoint.ts';
import { WaymarkError } from '../../domain/errors.ts';
import { type DecisionId, type PlanId, parseUlid, type RunId } from '../../domain/ids.ts';
import { parseReason } from '../../domain/reasons.ts';
import { parseRelPath } from '../../domain/rel-path.ts';
import { hasJournal } from '../../restore/journal/journal.ts';
import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import type { ScopeSource } from '../../workspace/observation.ts';
import type { CreateOptions, CreateResult } from '../api/checkpoints.ts';
import { settledRow } from '../history/settled-row.ts';
import { retainAfterCapture } from '../retention/retain.ts';
import { useSession } from '../sessions/session.ts';
import { startOfSession } from '../sessions/start-of-session.ts';
import { refuseDuringWave } from '../workspace/claims.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { liveScope } from '../workspace/live-scope.ts';
import { requireRoot } from '../workspace/require-root.ts';
import { lockWorkspace } from '../workspace/workspace-lock.ts';
import { innerWorkspaces } from '../workspace/workspaces-inside.ts';
import { capture } from './capture.ts';
import type { CheckpointOrigin } from './commit-checkpoint.ts';
import type { Reach } from './present.ts';

/** How long a capture waits for a restore or a collection to end, ms. */
const PATIENCE_MS = 30_000;

/** Those that outlive the process. */
const ENGINES: readonly EngineName[] = ['cas', 'git'];

const NOTHING = { filesObserved: 0, filesReused: 0, filesRead: 0 } as const;

/** Takes a checkpoint of the workspace as it is. */
export async function createCheckpoint(
  context: WorkspaceContext,
  options: CreateOptions & { readonly onlyIfChanged?: boolean; readonly reach?: Reach },
): Promise<CreateResult> {
  const type = oneOf('type', CHECKPOINT_TYPES, options.type ?? 'manual');
  const engine = requireEngine(options.engine ?? context.settings(context.identity.path).settings.engine);
  const selection = (options.paths ?? []).map(parseRelPath);
  context.scouts.expect(context.statCaches.estimateRows(context.identity.dirHash, engine));
  const metadata = {
    ...options.metadata,
    reason: parseReason(options.reason ?? type.replaceAll('_', '-')),
    source: options.source ?? 'api',
  };
  const ids = {
    runId: (options.runId ?? context.currentRun ?? null) as RunId | null,
    planId: options.planId === undefined ? null : parseUlid<PlanId>(options.planId),
    decisionId: options.decisionId === undefined ? null : parseUlid<DecisionId>(options.decisionId),
    resourceId: options.resourceId ?? null,
  };
  await refuseDuringWave(context, context.identity.path, options.waitMs ?? 0);
  const session = useSession(context, options.session);
  const store = context.store(engine, context.identity);
  const isFirst = context.catalog.checkpoints({ sessionId: session.id, limit: 1 }).length === 0;
  if (isFirst) await startOfSession(context, store);
  const limited = (options.reach ?? 'in_scope') === 'in_scope';
  if (limited && context.catalog.note(tooManyNote(context, session.id)) !== undefined)
    return tooManyFiles(context);
  const origin: CheckpointOrigin = {
    sessionId: session.id,
    type,
    metadata,
    label: options.label ?? null,
    ...ids,
  };
  const result = await underHolds(context, store, async () => {
    const scope = await scopeFor(context, store, origin.runId);
    return await capture(context, store, {
      origin,
      scope,
      selection,
      sameAs: (root) => duplicateOf(context, store, origin, root),
      ...(options.onlyIfChanged === undefined ? {} : { onlyIfChanged: options.onlyIfChanged }),
      ...(options.reach === undefined ? {} : { reach: options.reach }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
  });
  if (result === undefined) return { checkpoint: null, stats: NOTHING, deduplicated: false, warnings: [] };
  if (result.kind === 'too_many_files') {
    context.catalog.setNote(tooManyNote(context, session.id), String(result.files));
    return tooManyFiles(context);
  }
  if (result.kind === 'taken') await retainAfterCapture(context, store, result.checkpoint, options.keep);
  return {
    checkpoint: result.checkpoint,
    stats: result.stats,
    deduplicated: result.kind === 'same',
    warnings: [],
  };
}

/** @throws WaymarkError `VALIDATION_ERROR` */
export function requireEngine(engine: EngineName): EngineName {
  return oneOf('engine', ENGINES, engine);
}

/** JavaScript callers can say anything. */
function oneOf<T extends string>(what: string, known: readonly T[], value: T): T {
  if (known.includes(value)) return value;
  throw new WaymarkError('VALIDATION_ERROR', `No checkpoint ${what} is named ${JSON.stringify(value)}`, {
    hint: `There is ${known.join(', ')}`,
  });
}

async function underHolds<T>(
  context: WorkspaceContext,
  store: SnapshotStore,
  body: () => Promise<T>,
): Promise<T> {
  const { identity } = context;
  const inner = innerWorkspaces(context);
  const innerPaths = inner.map(({ path }) => path);
  using _workspace = await lockWorkspace(context.locks, identity.path, 'shared', PATIENCE_MS, innerPaths);
  requireRoot(context);
  await refuseDuringWave(context, identity.path, 0);
  for (const { path, dirHash } of [identity, ...inner]) {
    if (!hasJournal(context.layout, dirHash)) continue;
    context.warn(
      `A restore of ${path === identity.path ? 'this workspace' : path} was interrupted; this checkpoint shows it half done. Run: waymark recover --continue | --abort`,
    );
  }
  await using _store = await store.hold('shared', PATIENCE_MS);
  return await body();
}

/** Inside a run the rules of its start hold, whatever was done to ignore files and configuration since. */
export async function scopeFor(
  context: WorkspaceContext,
  store: SnapshotStore,
  runId: RunId | null,
): Promise<ScopeSource> {
  const run = context.catalog
    .openRuns()
    .find((open) => open.id === runId && open.dirHash === context.identity.dirHash);
  const start = run?.runStart ? await settledRow(context, { id: run.runStart }) : undefined;
  if (start === undefined) return liveScope(context);
  const holder = start.engine === store.engine ? store : context.store(start.engine, context.identity);
  const { rules } = await holder.open(start.snapshot);
  return { kind: 'frozen', rules };
}

/** On the git engine, the record less than a second old that says the same of the same tree. */
function duplicateOf(
  context: WorkspaceContext,
  store: SnapshotStore,
  origin: CheckpointOrigin,
  root: string,
): Checkpoint | undefined {
  if (store.engine !== 'git' || origin.type === 'safety') return undefined;
  const [last] = context.catalog.checkpoints({ dirHash: context.identity.dirHash, engine: 'git', limit: 1 });
  if (last === undefined || last.snapshot.root !== root) return undefined;
  const age = context.clock.now() - Date.parse(last.createdAt);
  const same =
    last.sessionId === origin.sessionId &&
    last.metadata.reason === origin.metadata.reason &&
    last.metadata.source === origin.metadata.source &&
    last.decisionId === origin.decisionId &&
    last.type === origin.type;
  return same && age >= 0 && age < 1000 ? last : undefined;
}

function tooManyNote(context: WorkspaceContext, session: string): string {
  return `too-many-files:${session}:${context.identity.dirHash}`;
}

function tooManyFiles(context: WorkspaceContext): CreateResult {
  const { maxFiles } = context.settings(context.identity.path).settings.limits;
  const warning = `Directory has >${maxFiles.toLocaleString('en-US')} files — checkpoints disabled for performance.`;
  context.warn(warning);
  return { checkpoint: null, stats: NOTHING, deduplicated: false, warnings: [], skipped: 'too_many_files' };
}
