import type { EngineName } from '../../domain/checkpoint.ts';
import type { CheckpointId, OperationId, SessionId } from '../../domain/ids.ts';
import type { OperationKind } from '../../domain/operation.ts';
import type { WorkspaceIdentity } from '../../domain/workspace.ts';
import type { UnlockedDirectory } from '../apply/unlock-directories.ts';
import type { RestoreAction } from '../plan/restore-plan.ts';

/** Everything that recovery needs to bring a workspace to before or to after an interrupted restore, but the blobs. */
export interface RestoreJournal {
  readonly operationId: OperationId;
  readonly kind: OperationKind;
  readonly workspace: WorkspaceIdentity;
  readonly sessionId: SessionId | null;
  /** null: not a checkpoint's state (undo, redo) */
  readonly targetId: CheckpointId | null;
  readonly safetyId: CheckpointId | null;
  /** where the blobs are */
  readonly engine: EngineName;
  /** UTC, ISO 8601 with milliseconds */
  readonly startedAt: string;
  readonly preserveMtime: boolean;
  /** in path order; the place in the list names the temporaries */
  readonly actions: readonly RestoreAction[];
  readonly unlocked: readonly UnlockedDirectory[];
}
