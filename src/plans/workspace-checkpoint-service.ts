import { commitCheckpoint } from '../checkpoints/capture/commit-checkpoint.ts';
import { createCheckpoint } from '../checkpoints/capture/create-checkpoint.ts';
import type { Reach } from '../checkpoints/capture/present.ts';
import { useSession } from '../checkpoints/sessions/session.ts';
import { lockWorkspace } from '../checkpoints/workspace/workspace-lock.ts';
import { CHECKPOINT_TYPES, type Checkpoint } from '../domain/checkpoint.ts';
import { WaymarkError } from '../domain/errors.ts';
import { type DecisionId, isUlid, type PlanId, type RunId } from '../domain/ids.ts';
import type { Plan } from '../domain/plan.ts';
import { parseReason } from '../domain/reasons.ts';
import type {
  CheckpointService,
  CreateCheckpointRequest,
  PlanCheckpoint,
  RollbackRequest,
  RollbackResult,
} from './checkpoints/checkpoint-service.ts';
import { momentOf } from './checkpoints/moment-of-checkpoint.ts';
import { planCheckpointOf } from './checkpoints/plan-checkpoint.ts';
import { findPlan } from './records/find-plan.ts';
import { contextFor, type PlanHome } from './records/plan-home.ts';
import { rollBackPlan } from './rollback/roll-back-plan.ts';
import { sandboxExists } from './sandbox/plan-sandboxes.ts';

/** ms that a capture or restore of another process may take */
const PATIENCE = 30_000;

/** The checkpoint service over the workspaces that sandboxes are. */
export class WorkspaceCheckpointService implements CheckpointService {
  readonly #planHome: PlanHome;

  constructor(planHome: PlanHome) {
    this.#planHome = planHome;
  }

  /** @param reach how far the capture looks; more than what is in scope before a sandbox is removed */
  async createCheckpoint(
    request: CreateCheckpointRequest,
    reach: Reach = 'in_scope',
  ): Promise<PlanCheckpoint> {
    const { repository, checkpointRecords, log } = this.#planHome;
    const plan = findPlan(repository, request.planId);
    validate(request);
    if (!sandboxExists(plan)) {
      throw new WaymarkError(
        'BUSINESS_RULE_VIOLATION',
        `Checkpoint blocked: sandbox is missing (${plan.id})`,
      );
    }
    const known = request.sandboxRef === undefined ? undefined : this.#resolve(plan, request.sandboxRef);
    const checkpoint =
      known === undefined
        ? await this.#capture(plan, request, reach)
        : await this.#recordAgain(plan, request, known);
    const { id, coverage } = checkpoint;
    log.record({
      planId: plan.id,
      kind: 'checkpoint_taken',
      checkpointId: id,
      decisionId: request.decisionId ?? null,
      data: {
        checkpoint_type: checkpoint.type,
        coverage: coverage.status,
        ...(known === undefined ? {} : { moment: this.#moment(plan, known) }),
      },
    });
    const record = checkpointRecords.get(id);
    if (record === undefined) throw new WaymarkError('INTERNAL', `Checkpoint ${id} is not in the catalog`);
    return planCheckpointOf(record);
  }

  async listCheckpoints({ planId }: { readonly planId: PlanId }): Promise<readonly PlanCheckpoint[]> {
    const { repository, checkpointRecords } = this.#planHome;
    return checkpointRecords.listByPlan(findPlan(repository, planId).id).map(planCheckpointOf);
  }

  async rollbackToCheckpoint({ planId, ...options }: RollbackRequest): Promise<RollbackResult> {
    return rollBackPlan(this.#planHome, findPlan(this.#planHome.repository, planId), options);
  }

  async #capture(plan: Plan, request: CreateCheckpointRequest, reach: Reach): Promise<Checkpoint> {
    const warnings: string[] = [];
    const context = contextFor(this.#planHome, plan, plan.sandbox.path, (line) => warnings.push(line));
    const { checkpoint } = await createCheckpoint(context, {
      type: request.checkpointType,
      source: 'plan',
      planId: plan.id,
      metadata: metadataOf(request),
      ...(reach === 'in_scope' ? {} : { reach }),
      ...(request.metadata?.reason === undefined ? {} : { reason: request.metadata.reason }),
      ...(request.decisionId === undefined ? {} : { decisionId: request.decisionId }),
      ...(request.resourceId === undefined ? {} : { resourceId: request.resourceId }),
      ...(plan.sessionId === null ? {} : { session: plan.sessionId }),
    });
    if (checkpoint !== null) return checkpoint;
    throw new WaymarkError(
      'UNSUPPORTED',
      warnings.at(-1) ?? `Nothing could be captured of ${plan.sandbox.path}`,
    );
  }

  /** The checkpoint of the plan's sandbox that `ref` names. @throws WaymarkError `VALIDATION_ERROR` */
  #resolve(plan: Plan, ref: string): Checkpoint {
    const { home, checkpointRecords } = this.#planHome;
    const known = checkpointRecords.findBySandboxRef(ref);
    const source = known === undefined ? undefined : home.catalog.checkpoint(known.checkpoint_id);
    const { identity } = contextFor(this.#planHome, plan, plan.sandbox.path);
    if (source?.workspace.dirHash === identity.dirHash) return source;
    throw new WaymarkError(
      'VALIDATION_ERROR',
      `Validation Error: sandbox_ref "${ref}" is no checkpoint of the sandbox`,
    );
  }

  #moment(plan: Plan, { id, planId }: Checkpoint): number {
    const { repository, checkpointRecords } = this.#planHome;
    const owner = planId === null ? plan : (repository.plan(planId) ?? plan);
    const record = checkpointRecords.get(id);
    return record === undefined ? 0 : momentOf(repository, owner, planCheckpointOf(record));
  }

  /** A record of its own for a snapshot that is there already. */
  async #recordAgain(plan: Plan, request: CreateCheckpointRequest, source: Checkpoint): Promise<Checkpoint> {
    const context = contextFor(this.#planHome, plan, plan.sandbox.path);
    const store = context.store(source.engine, context.identity);
    const session = useSession(context, plan.sessionId ?? undefined);
    using _workspace = await lockWorkspace(context.locks, context.identity.path, 'shared', PATIENCE);
    await using _store = await store.hold('shared', PATIENCE);
    const { snapshot, coverage, sizeBytes } = source;
    const written = { ref: snapshot, read: new Map(), bytesWritten: 0, blobsWritten: 0 };
    const origin = {
      sessionId: session.id,
      type: request.checkpointType,
      metadata: { ...metadataOf(request), reason: parseReason(reasonOf(request)), source: 'plan' },
      label: null,
      runId: (context.currentRun ?? null) as RunId | null,
      planId: plan.id,
      decisionId: (request.decisionId ?? null) as DecisionId | null,
      resourceId: request.resourceId ?? null,
    };
    const checkpoint = await commitCheckpoint(context, store, origin, async () => ({
      written,
      coverage,
      sizeBytes,
    }));
    if (checkpoint !== undefined) return checkpoint;
    throw new WaymarkError('INTERNAL', `Checkpoint ${source.id} could not be recorded again`);
  }
}

function validate({ checkpointType, decisionId, resourceId }: CreateCheckpointRequest): void {
  if (!CHECKPOINT_TYPES.includes(checkpointType)) {
    throw new WaymarkError('VALIDATION_ERROR', `Validation Error: checkpoint_type "${checkpointType}"`, {
      hint: `The types are ${CHECKPOINT_TYPES.join(', ')}`,
    });
  }
  for (const id of [decisionId, resourceId]) {
    if (id !== undefined && !isUlid(id))
      throw new WaymarkError('VALIDATION_ERROR', `Validation Error: "${id}" is not a ULID`);
  }
}

function metadataOf({ metadata = {} }: CreateCheckpointRequest) {
  return {
    ...(metadata.sourceTool === undefined ? {} : { sourceTool: metadata.sourceTool }),
    ...(metadata.phase === undefined ? {} : { phase: metadata.phase }),
    ...(metadata.extra === undefined ? {} : { extra: metadata.extra }),
  };
}

function reasonOf({ metadata, checkpointType }: CreateCheckpointRequest): string {
  return metadata?.reason ?? checkpointType.replaceAll('_', '-');
}
