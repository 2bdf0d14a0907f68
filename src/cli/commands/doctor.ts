import { countText } from '../../domain/count-text.ts';
import type { CommandModule } from '../command.ts';
import { EXIT } from '../exit-status.ts';
import { line } from '../render/block.ts';

/** `waymark doctor` */
export const doctor: CommandModule = {
  configure: (command) =>
    command.option('--rebuild-catalog', 'make the catalog anew from the manifests and shadow refs'),
  examples: [
    ['waymark doctor', 'look for damage and sweep up after dead captures'],
    ['waymark doctor --rebuild-catalog', 'when the catalog is lost or damaged'],
  ],
  async run(context, { options }) {
    const report = await (await context.waymark({ rebuildCatalog: options.flag('rebuildCatalog') })).doctor();
    return {
      data: () => ({
        problems: report.problems,
        swept_captures: report.sweptCaptures,
        rebuilt: report.rebuilt,
        replaced_catalog: report.replacedCatalog ?? null,
        checkpoints: report.checkpoints,
      }),
      blocks: () => [
        ...report.problems.map((problem) => line(problem, 'bad')),
        ...(report.rebuilt
          ? [
              line(
                'The catalog was rebuilt: checkpoints, sessions and pins are back, and nothing is pruned until you ask',
              ),
              line(
                'The log of operations and the plans lay in the catalog alone: earlier runs are taken back with waymark checkpoints restore, not undo',
              ),
            ]
          : []),
        ...(report.replacedCatalog === undefined
          ? []
          : [line(`The catalog before it is kept as ${report.replacedCatalog}`)]),
        ...(report.sweptCaptures > 0
          ? [line(`Swept ${countText(report.sweptCaptures, 'dead capture')}`)]
          : []),
        line(
          `${countText(report.checkpoints, 'checkpoint')}, ${countText(report.problems.length, 'problem')}`,
          report.problems.length === 0 ? 'good' : 'bad',
        ),
      ],
      exitStatus: report.problems.length === 0 ? EXIT.done : EXIT.failed,
    };
  },
};
