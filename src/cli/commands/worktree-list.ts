import type { WorktreeListing } from '../../checkpoints/api/worktrees.ts';
import { formatByteSize } from '../../config/byte-size.ts';
import type { CommandModule } from '../command.ts';
import { worktreeJson } from '../json/worktree-json.ts';

/** `waymark worktree list` */
export const worktreeList: CommandModule = {
  configure: (command) => command,
  examples: [
    ['waymark worktree list', 'the worktrees of this repository that Waymark made, newest first'],
    ['waymark worktree list --format json', 'for a program'],
  ],
  async run(context) {
    const worktrees = await (await context.workspace()).worktrees();
    return {
      data: () => worktrees.map(worktreeJson),
      blocks: () => [
        {
          kind: 'table',
          columns: [
            { title: 'Run', tone: 'accent' },
            { title: 'Age', tone: 'dim' },
            { title: 'State', tone: 'warn' },
            { title: 'Ahead' },
            { title: 'Dirty' },
            { title: 'Size' },
            { title: 'Branch' },
            { title: 'Path', tone: 'dim' },
          ],
          rows: worktrees.map((worktree) => [
            worktree.runId,
            ageText(worktree.ageMs),
            stateText(worktree),
            String(worktree.ahead ?? '?'),
            dirtyText(worktree),
            worktree.bytes === null ? '?' : formatByteSize(worktree.bytes),
            worktree.branch ?? '(detached)',
            worktree.path,
          ]),
        },
      ],
      notes:
        worktrees.length === 0
          ? ['No worktrees yet: waymark exec --worktree -- CMD']
          : worktrees.flatMap(({ runId, detail }) => (detail === undefined ? [] : [`${runId}: ${detail}`])),
    };
  },
};

function stateText({ state, runStatus }: WorktreeListing): string {
  return state === 'kept' && runStatus !== null && runStatus !== 'done' ? `${state}, ${runStatus}` : state;
}

function dirtyText({ changes }: WorktreeListing): string {
  if (changes === null) return '?';
  const { tracked, untracked, ignored } = changes;
  const parts = [
    ...(tracked > 0 ? [`${tracked} changed`] : []),
    ...(untracked > 0 ? [`${untracked} untracked`] : []),
    ...(ignored > 0 ? [`${ignored} ignored`] : []),
  ];
  return parts.join(', ') || 'no';
}

const UNITS: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
];

function ageText(ms: number | null): string {
  if (ms === null) return '?';
  const [size, unit] = UNITS.find(([least]) => ms >= least) ?? [1000, 's'];
  return `${Math.floor(ms / size)} ${unit}`;
}
