import type { CommandModule } from '../command.ts';
import { worktreeDiffJson } from '../json/worktree-json.ts';
import { printPatch } from '../print-patch.ts';
import { progressLine } from '../progress-line.ts';
import { diffResult } from '../render/diff-result.ts';
import { absolutePaths } from '../workspace-paths.ts';

/** `waymark worktree diff RUN [-- PATH…]` */
export const worktreeDiff: CommandModule = {
  configure: (command) =>
    command
      .argument('<run>', 'a run, as worktree list names it')
      .argument('[paths...]', 'only these paths')
      .option('-p, --patch', 'print a diff that git apply takes'),
  examples: [
    ['waymark worktree diff fix', 'what the run changed, from where it began to its worktree as it is'],
    ['waymark worktree diff fix --patch -- src', 'as a patch, below src'],
  ],
  async run(context, { words, literal, options }) {
    const [run = '', ...rest] = [...words, ...literal];
    const paths = absolutePaths(rest, context.cwd);
    const workspace = await context.workspace();
    if (options.flag('patch'))
      return await printPatch(context, (warnings) => workspace.worktreePatch(run, { paths, ...warnings }));
    using _progress = progressLine(context.terminal, workspace);
    return diffResult(await workspace.worktreeDiff(run, { paths }), worktreeDiffJson);
  },
};
