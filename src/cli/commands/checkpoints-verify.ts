import { countText } from '../../domain/count-text.ts';
import { onlyName } from '../checkpoint-names.ts';
import type { CommandModule } from '../command.ts';
import { EXIT } from '../exit-status.ts';
import { problemJson } from '../json/problem-json.ts';
import { progressLine } from '../progress-line.ts';
import { line } from '../render/block.ts';

/** `waymark checkpoints verify [NAME]` */
export const checkpointsVerify: CommandModule = {
  configure: (command) =>
    command.argument('[checkpoint...]', 'one checkpoint (default: all of the workspace)'),
  examples: [
    ['waymark checkpoints verify', 'read everything that the checkpoints of this workspace need'],
    ['waymark checkpoints verify @', 'only what the newest needs'],
  ],
  async run(context, { words, literal }) {
    const workspace = await context.workspace();
    const typed = [...words, ...literal];
    const name = typed.length === 0 ? undefined : await onlyName(typed, context.isSession);
    using _progress = progressLine(context.terminal, workspace);
    const { checked, problems } = await workspace.verify(name);
    return {
      data: () => ({ checked, problems: problems.map(problemJson) }),
      blocks: () => [
        ...problems.map(({ where, message }) => line(`${where}: ${message}`, 'bad')),
        line(
          `${countText(checked, 'checkpoint')} checked, ${countText(problems.length, 'problem')}`,
          problems.length === 0 ? 'good' : 'bad',
        ),
      ],
      exitStatus: problems.length === 0 ? EXIT.done : EXIT.failed,
    };
  },
};
