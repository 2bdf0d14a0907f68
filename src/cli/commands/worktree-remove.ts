import type { WorktreeRemoval } from '../../checkpoints/api/worktrees.ts';
import type { CommandModule } from '../command.ts';
import { worktreeRemovalJson } from '../json/worktree-json.ts';
import { progressLine } from '../progress-line.ts';
import { line } from '../render/block.ts';

/** `waymark worktree remove RUN` */
export const worktreeRemove: CommandModule = {
  configure: (command) =>
    command
      .argument('<run>', 'a run, as worktree list names it')
      .option('--force', 'remove it although work lies in it, after a checkpoint of everything in it')
      .option('--discard-secrets', 'with --force: let secrets go with it, which no checkpoint holds')
      .option('--discard-unheld', 'with --force: let everything go that no checkpoint can hold'),
  examples: [
    ['waymark worktree remove fix', 'remove it where nothing would be lost; else say what'],
    ['waymark worktree remove --force fix', 'after a checkpoint of everything, ignored files included'],
    ['waymark checkpoints restore ID --into DIR', 'afterwards: have its files again'],
  ],
  async run(context, { words, literal, options }) {
    const [run = ''] = [...words, ...literal];
    const workspace = await context.workspace();
    using _progress = progressLine(context.terminal, workspace);
    const removal = await workspace.worktreeRemove(run, {
      force: options.flag('force'),
      discardSecrets: options.flag('discardSecrets'),
      discardUnheld: options.flag('discardUnheld'),
    });
    return {
      data: () => worktreeRemovalJson(removal),
      blocks: () => textOf(removal).map((text) => line(text)),
      warnings: removal.notices.map(({ message }) => message),
    };
  },
};

function textOf({ runId, path, removed, branch, branchDeleted, checkpoint, discarded }: WorktreeRemoval) {
  if (!removed) return [`Nothing is left of run ${runId}`];
  const held = checkpoint?.id;
  return [
    `Removed ${path}${branchDeleted ? ` and branch ${branch}` : ''}`,
    ...(held === undefined
      ? []
      : [`Everything in it is in checkpoint ${held}: waymark checkpoints restore ${held} --into DIR`]),
    ...(discarded.length === 0 ? [] : [`Discarded: ${discarded.join(', ')}`]),
  ];
}
