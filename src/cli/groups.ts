import type { CommandModule } from './command.ts';

/** A noun that commands stand under. */
export interface CommandGroup {
  /** One line for the list of commands and the head of its own help. */
  readonly summary: string;
  readonly examples: CommandModule['examples'];
}

/** What each noun is about. */
export const GROUPS: Readonly<Record<string, CommandGroup>> = {
  checkpoints: {
    summary: 'take, look at, compare, restore and drop checkpoints',
    examples: [
      ['waymark checkpoints create --label "before the upgrade"', 'take one of the workspace'],
      ['waymark checkpoints diff @', 'what changed since the newest'],
      ['waymark checkpoints restore @ -- src', 'only src back to it; asks first'],
    ],
  },
  worktree: {
    summary: 'runs in a worktree of their own',
    examples: [
      ['waymark exec --worktree --name fix -- my-agent', 'a run in a worktree, on the branch waymark/fix'],
      ['waymark worktree diff fix', 'what it changed'],
      ['waymark worktree apply fix', 'bring that into this checkout; asks first'],
      ['waymark worktree remove fix', 'remove it where nothing would be lost'],
    ],
  },
  store: {
    summary: 'where the content lies',
    examples: [
      ['waymark store list', 'the stores, with their sizes'],
      ['waymark store remove --store git', 'what the git store holds of this workspace; asks first'],
    ],
  },
  plan: {
    summary: 'steps and subplans under protection',
    examples: [
      ['waymark plan run refactor.yaml', 'run a plan file'],
      ['waymark plan list', 'the plans, newest first'],
      ['waymark plan tree 01J8ZQ4T', 'the decisions of one, with their checkpoints'],
      ['waymark plan run --resume 01J8ZQ4T', 'go on after a failure or a kill'],
    ],
  },
  'plan checkpoint': {
    summary: 'checkpoints of a plan',
    examples: [
      ['waymark plan checkpoint create 01J8ZQ4T', 'take one'],
      ['waymark plan checkpoint list 01J8ZQ4T', 'list them, newest first'],
    ],
  },
};
