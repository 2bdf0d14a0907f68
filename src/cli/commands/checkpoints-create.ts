import { lstatSync } from 'node:fs';
import type { CreateResult } from '../../checkpoints/api/checkpoints.ts';
import { countText } from '../../domain/count-text.ts';
import { quotePath, toFsPath } from '../../domain/rel-path.ts';
import type { CommandModule } from '../command.ts';
import { EXIT } from '../exit-status.ts';
import { checkpointJson } from '../json/checkpoint-json.ts';
import { given } from '../options.ts';
import { progressLine } from '../progress-line.ts';
import { line } from '../render/block.ts';
import { hashOf } from '../render/checkpoint-table.ts';
import { coverageText } from '../render/coverage-text.ts';
import type { Result } from '../render/result.ts';
import { workspacePaths } from '../workspace-paths.ts';

/** `waymark checkpoints create [PATH…]` */
export const checkpointsCreate: CommandModule = {
  configure: (command) =>
    command
      .argument('[paths...]', 'only these paths and what lies below (default: the whole workspace)')
      .option('--session <id>', 'the session (default: WAYMARK_SESSION, else the newest of the workspace)')
      .option('--store <engine>', 'where the content goes: cas or git')
      .option('--reason <text>', 'why, e.g. pre-wave-3', undefined)
      .option('--source <name>', 'who asks (default: cli)')
      .option('--label <text>', 'a name for people')
      .option(
        '--keep <count>',
        'how many to keep of the session, or of the git store (default: the settings)',
      )
      .option('--wait <seconds>', 'how long to wait for a wave to end (default: refuse at once)'),
  examples: [
    ['waymark checkpoints create', 'the whole workspace'],
    ['waymark checkpoints create --reason pre-wave-3 --source build', 'said by an orchestrator'],
    ['waymark checkpoints create src test', 'two directories only'],
    ['id=$(waymark checkpoints create --format plain)', 'for scripts: prints only the id'],
  ],
  onInterrupt: 'abort',
  async run(context, { words, literal, options }) {
    const workspace = await context.workspace();
    using _progress = progressLine(context.terminal, workspace);
    const paths = workspacePaths([...words, ...literal], context.cwd, workspace.identity.path);
    const result = await workspace.createCheckpoint({
      source: options.text('source') ?? 'cli',
      paths,
      signal: context.signal,
      ...given('reason', options.text('reason')),
      ...given('label', options.text('label')),
      ...given('session', options.text('session')),
      ...given('engine', options.choice('store', ['cas', 'git'])),
      ...given('keep', options.count('keep')),
      ...given('waitMs', options.seconds('wait')),
    });
    const missing = paths.filter((path) => isMissing(`${workspace.identity.path}/${path}`));
    return render(result, missing);
  },
};

/** A checkpoint of a path that is not there is meant now and then, and more often a slip. */
function isMissing(place: string): boolean {
  try {
    lstatSync(toFsPath(place));
    return false;
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}

function render(result: CreateResult, missing: readonly string[]): Result {
  const { checkpoint, stats, deduplicated, skipped } = result;
  const warnings = [
    ...result.warnings,
    ...missing.map(
      (path) => `${quotePath(path)} is not there; the checkpoint says so and holds nothing of it`,
    ),
  ];
  const data = () => ({
    checkpoint: checkpoint === null ? null : checkpointJson(checkpoint),
    stats: {
      files_observed: stats.filesObserved,
      files_reused: stats.filesReused,
      files_read: stats.filesRead,
    },
    deduplicated,
    ...(skipped === undefined ? {} : { skipped }),
  });
  if (checkpoint === null) return { data, blocks: () => [], warnings };
  const partial = checkpoint.coverage.status === 'partial';
  return {
    data,
    plain: () => [line(checkpoint.engine === 'git' ? checkpoint.sandboxRef : checkpoint.id)],
    blocks: () => [
      line(
        `Checkpoint ${checkpoint.id} (${hashOf(checkpoint)}), session ${checkpoint.sessionId} ${checkpoint.seq}${deduplicated ? ', as a moment ago' : ''}`,
        'good',
      ),
      line(
        `${countText(checkpoint.coverage.stored, 'path')} stored; ${countText(stats.filesRead, 'file')} read, ${stats.filesReused} reused`,
        'dim',
      ),
    ],
    warnings,
    notes: partial ? coverageText(checkpoint.coverage) : [],
    exitStatus: partial ? EXIT.partial : EXIT.done,
  };
}
