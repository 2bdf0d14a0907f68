import type { DiffOptions } from '../../checkpoints/api/diff.ts';
import { takeNames } from '../checkpoint-names.ts';
import type { CommandModule } from '../command.ts';
import { diffJson } from '../json/diff-json.ts';
import { given } from '../options.ts';
import { printPatch } from '../print-patch.ts';
import { progressLine } from '../progress-line.ts';
import { diffResult } from '../render/diff-result.ts';
import { workspacePaths } from '../workspace-paths.ts';

/** `waymark checkpoints diff [A] [B] [-- PATH…]` */
export const checkpointsDiff: CommandModule = {
  configure: (command) =>
    command
      .argument('[names...]', 'one or two checkpoints (default: the newest), then paths after --')
      .option('-p, --patch', 'print a diff that git apply takes'),
  examples: [
    ['waymark checkpoints diff', 'what changed since the newest checkpoint'],
    ['waymark checkpoints diff @~1 @', 'between the two newest'],
    ['waymark checkpoints diff nightly 0 nightly 4 -- src', 'between two of a session, below src'],
    ['waymark checkpoints diff @ --patch > changes.patch', 'as a patch'],
  ],
  async run(context, { words, literal, options }) {
    const workspace = await context.workspace();
    const { names, rest } = await takeNames(words, 2, context.isSession);
    const [from = '@', to] = names;
    const diff: DiffOptions = {
      from,
      paths: workspacePaths([...rest, ...literal], context.cwd, workspace.identity.path),
      ...given('to', to),
    };
    if (options.flag('patch'))
      return await printPatch(context, (warnings) => workspace.patch({ ...diff, ...warnings }));
    using _progress = progressLine(context.terminal, workspace);
    return diffResult(await workspace.diff(diff), diffJson);
  },
};
