import type { PruneReport } from '../../checkpoints/api/retention.ts';
import { formatByteSize } from '../../config/byte-size.ts';
import { countText } from '../../domain/count-text.ts';
import type { CommandModule } from '../command.ts';
import { ask } from '../consent.ts';
import { EXIT } from '../exit-status.ts';
import { checkpointJson } from '../json/checkpoint-json.ts';
import { problemJson } from '../json/problem-json.ts';
import { given } from '../options.ts';
import { progressLine } from '../progress-line.ts';
import { type Block, line } from '../render/block.ts';
import { hashOf } from '../render/checkpoint-table.ts';
import { renderRich } from '../render/render-rich.ts';
import type { Result } from '../render/result.ts';
import { timeText } from '../time-text.ts';

/** `waymark checkpoints prune` */
export const checkpointsPrune: CommandModule = {
  configure: (command) =>
    command
      .option('-n, --dry-run', 'show what would go')
      .option('--orphans', 'also checkpoints of workspaces whose directory is missing')
      .option('-y, --yes', 'do not ask (for --orphans)'),
  examples: [
    ['waymark checkpoints prune --dry-run', 'what retention would drop, and the space it frees'],
    ['waymark checkpoints prune', 'drop it and free the space'],
    ['waymark checkpoints prune --orphans', 'also of workspaces that are gone; asks first'],
  ],
  async run(context, { options }) {
    const workspace = await context.workspace();
    using progress = progressLine(context.terminal, workspace);
    const { terminal } = context;
    const confirm = async (report: PruneReport) => {
      if (options.flag('yes')) return true;
      progress.clear();
      terminal.err(renderRich(droppedBlocks(report), terminal.colorErr));
      return await ask(`Drop ${countText(report.dropped.length, 'checkpoint')}?`);
    };
    const report = await workspace.prune({
      dryRun: options.flag('dryRun'),
      orphans: options.flag('orphans'),
      ...given('confirm', options.flag('yes') || terminal.canAsk ? confirm : undefined),
    });
    return render(report);
  },
};

function render(report: PruneReport): Result {
  const { dryRun, dropped, bytesFreed, bytesBefore, bytesAfter, problems } = report;
  return {
    data: () => ({
      dry_run: dryRun,
      dropped: dropped.map(({ checkpoint, reason }) => ({
        checkpoint_id: checkpoint.id,
        session_id: checkpoint.sessionId,
        seq: checkpoint.seq,
        workspace: checkpointJson(checkpoint).workspace,
        reason,
      })),
      bytes_freed: bytesFreed,
      bytes_before: bytesBefore,
      bytes_after: bytesAfter,
      problems: problems.map(problemJson),
    }),
    blocks: () => [
      ...droppedBlocks(report),
      ...problems.map(({ where, message }) => line(`${where}: ${message}`, 'bad')),
      line(
        `${dryRun ? 'Would drop' : 'Dropped'} ${countText(dropped.length, 'checkpoint')} and ${dryRun ? 'free' : 'freed'} ${formatByteSize(bytesFreed)}`,
      ),
    ],
    exitStatus: problems.length > 0 ? EXIT.failed : EXIT.done,
  };
}

function droppedBlocks({ dropped }: PruneReport): readonly Block[] {
  return [
    {
      kind: 'table',
      columns: [
        { title: 'Hash', tone: 'accent' },
        { title: 'Timestamp', tone: 'dim' },
        { title: 'Session' },
        { title: 'Seq' },
        { title: 'Why' },
      ],
      rows: dropped.map(({ checkpoint, reason }) => [
        hashOf(checkpoint),
        timeText(checkpoint.createdAt),
        checkpoint.sessionId,
        String(checkpoint.seq),
        reason,
      ]),
    },
  ];
}
