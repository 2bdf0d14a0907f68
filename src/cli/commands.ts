import type { CommandEntry } from './command.ts';

/** Every command. A new one is a module in `commands/` and a line here. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    path: 'exec',
    summary: 'run a command under protection',
    load: async () => (await import('./commands/exec.ts')).exec,
  },
  {
    path: 'undo',
    summary: 'take back what a run, restore or apply did',
    load: async () => (await import('./commands/undo.ts')).undo,
  },
  {
    path: 'redo',
    summary: 'take the newest undo back',
    load: async () => (await import('./commands/redo.ts')).redo,
  },
  {
    path: 'operations',
    summary: 'list what changed the workspace',
    load: async () => (await import('./commands/operations.ts')).operations,
  },
  {
    path: 'status',
    summary: 'show settings, the last checkpoint and what is not covered',
    load: async () => (await import('./commands/status.ts')).status,
  },
  {
    path: 'init',
    summary: 'measure the workspace and propose limits that fit',
    load: async () => (await import('./commands/init.ts')).init,
  },
  {
    path: 'recover',
    summary: 'finish or take back an interrupted restore',
    load: async () => (await import('./commands/recover.ts')).recover,
  },
  {
    path: 'doctor',
    summary: 'look for damage, rebuild the catalog',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  {
    path: 'trust',
    summary: "allow the commands in the workspace's waymark.toml",
    load: async () => (await import('./commands/trust.ts')).trust,
  },
  {
    path: 'checkpoints create',
    summary: 'take a checkpoint',
    load: async () => (await import('./commands/checkpoints-create.ts')).checkpointsCreate,
  },
  {
    path: 'checkpoints list',
    summary: 'list checkpoints, newest first',
    load: async () => (await import('./commands/checkpoints-list.ts')).checkpointsList,
  },
  {
    path: 'checkpoints show',
    summary: 'show one checkpoint and check its content',
    load: async () => (await import('./commands/checkpoints-show.ts')).checkpointsShow,
  },
  {
    path: 'checkpoints diff',
    summary: 'compare checkpoints with each other or the workspace',
    load: async () => (await import('./commands/checkpoints-diff.ts')).checkpointsDiff,
  },
  {
    path: 'checkpoints cat',
    summary: 'print a stored file',
    load: async () => (await import('./commands/checkpoints-cat.ts')).checkpointsCat,
  },
  {
    path: 'checkpoints log',
    summary: 'list the versions of one path',
    load: async () => (await import('./commands/checkpoints-log.ts')).checkpointsLog,
  },
  {
    path: 'checkpoints restore',
    summary: 'go back to a checkpoint, whole or in part',
    load: async () => (await import('./commands/checkpoints-restore.ts')).checkpointsRestore,
  },
  {
    path: 'checkpoints pin',
    summary: 'keep a checkpoint for good',
    load: async () => (await import('./commands/checkpoints-pin.ts')).checkpointsPin,
  },
  {
    path: 'checkpoints unpin',
    summary: 'let retention decide again',
    load: async () => (await import('./commands/checkpoints-pin.ts')).checkpointsUnpin,
  },
  {
    path: 'checkpoints delete',
    summary: 'drop one checkpoint',
    load: async () => (await import('./commands/checkpoints-delete.ts')).checkpointsDelete,
  },
  {
    path: 'checkpoints prune',
    summary: 'drop what retention does not keep, free the space',
    load: async () => (await import('./commands/checkpoints-prune.ts')).checkpointsPrune,
  },
  {
    path: 'checkpoints verify',
    summary: 'check the content of checkpoints',
    load: async () => (await import('./commands/checkpoints-verify.ts')).checkpointsVerify,
  },
  {
    path: 'checkpoints purge',
    summary: 'remove a path from every checkpoint',
    load: async () => (await import('./commands/checkpoints-purge.ts')).checkpointsPurge,
  },
  {
    path: 'worktree list',
    summary: 'list the worktrees of runs',
    load: async () => (await import('./commands/worktree-list.ts')).worktreeList,
  },
  {
    path: 'worktree diff',
    summary: 'show what a run changed in its worktree',
    load: async () => (await import('./commands/worktree-diff.ts')).worktreeDiff,
  },
  {
    path: 'worktree apply',
    summary: 'bring what a run changed into this checkout',
    load: async () => (await import('./commands/worktree-apply.ts')).worktreeApply,
  },
  {
    path: 'worktree remove',
    summary: "remove a run's worktree where nothing is lost",
    load: async () => (await import('./commands/worktree-remove.ts')).worktreeRemove,
  },
  {
    path: 'plan run',
    summary: 'run a plan file under protection',
    load: async () => (await import('./commands/plan-run.ts')).planRun,
  },
  {
    path: 'plan list',
    summary: 'list plans, newest first',
    load: async () => (await import('./commands/plan-list.ts')).planList,
  },
  {
    path: 'plan status',
    summary: 'show how far a plan is',
    load: async () => (await import('./commands/plan-status.ts')).planStatus,
  },
  {
    path: 'plan tree',
    summary: 'show the decisions of a plan',
    load: async () => (await import('./commands/plan-tree.ts')).planTree,
  },
  {
    path: 'plan diff',
    summary: 'show what a plan changed in its sandbox',
    load: async () => (await import('./commands/plan-diff.ts')).planDiff,
  },
  {
    path: 'plan apply',
    summary: 'bring the result of a plan to the workspace',
    load: async () => (await import('./commands/plan-apply.ts')).planApply,
  },
  {
    path: 'plan cancel',
    summary: 'end a plan and remove its sandbox',
    load: async () => (await import('./commands/plan-cancel.ts')).planCancel,
  },
  {
    path: 'plan correct',
    summary: 'correct a decision: revert it, or add guidance',
    load: async () => (await import('./commands/plan-correct.ts')).planCorrect,
  },
  {
    path: 'plan rollback',
    summary: 'take a plan back to one of its checkpoints',
    load: async () => (await import('./commands/plan-rollback.ts')).planRollback,
  },
  {
    path: 'plan checkpoint create',
    summary: 'take a checkpoint of a plan',
    load: async () => (await import('./commands/plan-checkpoint-create.ts')).planCheckpointCreate,
  },
  {
    path: 'plan checkpoint list',
    summary: 'list the checkpoints of a plan',
    load: async () => (await import('./commands/plan-checkpoint-list.ts')).planCheckpointList,
  },
  {
    path: 'plan checkpoint delete',
    summary: 'drop a checkpoint of a plan',
    load: async () => (await import('./commands/plan-checkpoint-delete.ts')).planCheckpointDelete,
  },
  {
    path: 'wave',
    summary: 'let parallel agents write, with no checkpoint meanwhile',
    load: async () => (await import('./commands/wave.ts')).wave,
  },
  {
    path: 'store list',
    summary: 'list the stores with their sizes',
    load: async () => (await import('./commands/store-list.ts')).storeList,
  },
  {
    path: 'store remove',
    summary: 'remove what a store holds of the workspace',
    load: async () => (await import('./commands/store-remove.ts')).storeRemove,
  },
  {
    path: 'skill',
    summary: 'print a skill that teaches an agent to use Waymark',
    load: async () => (await import('./commands/skill.ts')).skill,
  },
];
