import type { CreateOptions, RestoreOptions, RestoreResult, Workspace } from '../../src/index.ts';

/** Takes a checkpoint, which must come about, and gives its id. */
export async function take(workspace: Workspace, options: CreateOptions = {}): Promise<string> {
  const { checkpoint } = await workspace.createCheckpoint(options);
  if (checkpoint === null) throw new Error('No checkpoint was taken');
  return checkpoint.id;
}

/** Goes back to a checkpoint, whole or in part, with consent given beforehand. */
export async function goBack(
  workspace: Workspace,
  checkpoint: string,
  paths: readonly string[] = [],
  options: Partial<RestoreOptions> = {},
): Promise<RestoreResult> {
  return await workspace.restore({ checkpoint, paths, confirm: 'always', ...options });
}
