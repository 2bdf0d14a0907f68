/** Every failure Waymark reports has one of these codes; the set is closed and documented in `docs/exit-codes.md`. */
export const ERROR_CODES = [
  // bad input
  'USAGE',
  'VALIDATION_ERROR',
  'CONFIG_INVALID',
  'UNSAFE_PATH',
  'AMBIGUOUS_ID',
  // not there
  'CHECKPOINT_NOT_FOUND',
  'SESSION_NOT_FOUND',
  'OPERATION_NOT_FOUND',
  'PATH_NOT_FOUND',
  'WORKSPACE_NOT_FOUND',
  'STORE_NOT_FOUND',
  'RUN_NOT_FOUND',
  'PLAN_NOT_FOUND',
  'DECISION_NOT_FOUND',
  // refused or in conflict
  'WORKSPACE_REFUSED',
  'WORKSPACE_MISMATCH',
  'WORKSPACE_BUSY',
  'WAVE_ACTIVE',
  'RUN_ACTIVE',
  'STORE_BUSY',
  'RESTORE_INTERRUPTED',
  'PLAN_STALE',
  'CONFIRMATION_REQUIRED',
  'DECLINED',
  'CHECKPOINT_IN_USE',
  'NOTHING_TO_UNDO',
  'UNDO_IMPOSSIBLE',
  'TARGET_NOT_EMPTY',
  'NOT_TRUSTED',
  'CHECKPOINT_REQUIRED',
  'BRANCH_IN_USE',
  'WORKTREE_NOT_SAFE',
  'NOT_A_REPOSITORY',
  'REPOSITORY_UNSUPPORTED',
  'BUSINESS_RULE_VIOLATION',
  // damaged
  'OBJECT_MISSING',
  'OBJECT_CORRUPT',
  'MANIFEST_INVALID',
  'FORMAT_UNSUPPORTED',
  'CATALOG_CORRUPT',
  'STORE_CORRUPT',
  // the machine
  'NO_SPACE',
  'PERMISSION_DENIED',
  'IO_ERROR',
  'GIT_NOT_FOUND',
  'GIT_FAILED',
  'COMMAND_FAILED',
  'UNSUPPORTED',
  'INTERRUPTED',
  'INTERNAL',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export interface WaymarkErrorOptions {
  /** What the person can do about it: one sentence or a command. */
  readonly hint?: string;
  readonly cause?: unknown;
  /** Structured facts for machines; snake_case keys, JSON values. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * The one error class: a code from the closed set, a message that names the thing, a hint and the cause.
 *
 * @example throw new WaymarkError('CHECKPOINT_NOT_FOUND', `No checkpoint named "${name}"`, { hint: 'See: waymark checkpoints list' })
 */
export class WaymarkError extends Error {
  override readonly name = 'WaymarkError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, options: WaymarkErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.details = options.details;
  }
}

/** Tells whether `error` is a {@link WaymarkError}, with one of `codes` where any are given. */
export function isWaymarkError(error: unknown, ...codes: readonly ErrorCode[]): error is WaymarkError {
  return error instanceof WaymarkError && (codes.length === 0 || codes.includes(error.code));
}
