import type { Checkpoint } from '../../domain/checkpoint.ts';
import { isWantedChange } from '../../domain/wanted-change.ts';
import type { RestorePlan } from '../../restore/plan/restore-plan.ts';
import type { Preview, RestoreOptions, RestoreResult } from '../api/restore.ts';
import { findCheckpoint } from '../history/find-checkpoint.ts';
import { openSnapshot } from '../history/open-snapshot.ts';
import { otherSessions } from '../sessions/other-sessions.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { requireOwn } from '../workspace/require-own.ts';
import { changeWorkspace } from './change-workspace.ts';
import { gitMoved } from './git-moved.ts';
import { materializeCheckpoint } from './materialize-checkpoint.ts';
import { prepareRestore } from './restore-preparation.ts';

/** Takes the workspace back to a checkpoint, whole or in part, or writes the checkpoint into another directory. */
export async function restoreCheckpoint(
  context: WorkspaceContext,
  options: RestoreOptions,
): Promise<RestoreResult> {
  const target = findCheckpoint(context, options.checkpoint);
  if (options.into !== undefined) return await materializeCheckpoint(context, target, options);
  requireOwn(context, target, options.force ?? false);
  const selection = { paths: options.paths ?? [] };
  const whole = selection.paths.length === 0;
  const store = context.store(target.engine, target.workspace);
  const verifyCommand = whole
    ? (options.verify ?? context.settings(context.identity.path).settings.restoreVerify)
    : undefined;
  const result = await changeWorkspace(context, store, {
    kind: 'restore',
    target,
    takesBack: null,
    description: whole ? `to ${target.id}` : `to ${target.id}: ${selection.paths.join(' ')}`,
    reason: whole ? 'pre-restore-safety' : 'pre-restore-safety-file',
    prepare: async () => {
      const { view } = await openSnapshot(context, target);
      return await prepareRestore(context, store, target, view, selection);
    },
    preview: async (plan): Promise<Preview> => ({
      kind: 'restore',
      plan,
      target,
      operation: undefined,
      warnings: await warningsFor(context, target, plan),
      verifyCommand,
    }),
    options,
  });
  const messages = [...result.messages, ...restoreMessages(target, selection.paths, result)];
  return await verified(context, { ...result, messages }, whole, verifyCommand ?? options.verify);
}

async function warningsFor(
  context: WorkspaceContext,
  target: Checkpoint,
  plan: RestorePlan,
): Promise<readonly string[]> {
  return [...gitMoved(context, target), ...(await otherSessions(context, target, plan))];
}

function restoreMessages(
  target: Checkpoint,
  paths: readonly string[],
  result: RestoreResult,
): readonly string[] {
  if (result.dryRun) return [`Dry run: nothing was written`];
  const name = `checkpoint \`${target.id}\` (\`${target.metadata.reason}\`)`;
  if (result.changes.length === 0 && result.safetyCheckpointId === null) {
    return result.skipped.some(isWantedChange)
      ? [`Nothing else to restore: but for what is listed the workspace is as in ${name}`]
      : [`Nothing to restore: the workspace is as in ${name}`];
  }
  const safety = `Safety checkpoint created at \`${result.safetyCheckpointId}\` — use this to undo the restore.`;
  if (result.changes.length === 0)
    return [`Nothing could be restored from ${name}; what stands in the way is listed`];
  if (paths.length === 0) return [`Restored to ${name}. ${safety}`];
  return [...paths.map((path) => `Restored \`${path}\` from ${name}.`), safety];
}

/** Runs the verification command after a full restore; it reports and never restores by itself. */
async function verified(
  context: WorkspaceContext,
  result: RestoreResult,
  whole: boolean,
  command: string | undefined,
): Promise<RestoreResult> {
  if (result.dryRun || (!whole && command === undefined)) return result;
  if (!whole || command === undefined) {
    const why = whole ? 'no test command configured' : 'only a full restore is';
    return { ...result, messages: [...result.messages, `Not verified: ${why}`] };
  }
  const exitCode = await context.runCommand(command, context.identity.path);
  const outcome =
    exitCode === 0
      ? `Verified: \`${command}\` passed`
      : `Verification failed: \`${command}\` exited with ${exitCode}`;
  return { ...result, verified: { command, exitCode }, messages: [...result.messages, outcome] };
}
