import { formatByteSize } from '../../config/byte-size.ts';
import { countText } from '../../domain/count-text.ts';
import { WaymarkError } from '../../domain/errors.ts';
import { quotePath } from '../../domain/rel-path.ts';
import type { CommandModule } from '../command.ts';
import { requireConsent } from '../consent.ts';
import { pathJson } from '../json/path-json.ts';
import { progressLine } from '../progress-line.ts';
import { line } from '../render/block.ts';
import { workspacePath } from '../workspace-paths.ts';

/** `waymark checkpoints purge --path PATH` */
export const checkpointsPurge: CommandModule = {
  configure: (command) =>
    command
      .requiredOption('--path <path>', 'a file, directory or glob in the workspace')
      .option('-y, --yes', 'do not ask'),
  examples: [
    ['waymark checkpoints purge --path config/token.txt', 'remove a file from every checkpoint for good'],
  ],
  async run(context, { options }) {
    const workspace = await context.workspace();
    const typed = options.text('path') ?? '';
    const path = workspacePath(typed, context.cwd, workspace.identity.path);
    if (path === '') throw new WaymarkError('USAGE', `--path ${quotePath(typed)} is the whole workspace`);
    using progress = progressLine(context.terminal, workspace);
    const purged = await workspace.purge(path, async ({ checkpoints, paths }) => {
      progress.clear();
      await requireConsent(
        context,
        options.flag('yes'),
        `Remove ${countText(paths.length, 'path')} from ${countText(checkpoints, 'checkpoint')} for good?`,
      );
      return true;
    });
    return {
      data: () => ({
        checkpoints: purged.checkpoints,
        paths: purged.paths.map(pathJson),
        bytes_freed: purged.bytesFreed,
      }),
      blocks: () => [
        ...purged.paths.map((found) => line(quotePath(found))),
        line(
          `Removed ${countText(purged.paths.length, 'path')} from ${countText(purged.checkpoints, 'checkpoint')}, freed ${formatByteSize(purged.bytesFreed)}`,
        ),
      ],
    };
  },
};
