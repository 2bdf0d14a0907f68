import type { CommandModule } from '../command.ts';
import { countText, summaryText } from '../count-text.ts';
import { worktreeDiffJson } from '../json/worktree-json.ts';
import { progressLine } from '../progress-line.ts';
import { changeBlocks, skipBlocks } from '../render/change-blocks.ts';
import { absolutePaths } from '../workspace-paths.ts';

/** `waymark worktree diff RUN [-- PATH…]` */
export const worktreeDiff: CommandModule = {
  configure: (command) =>
    command
      .argument('<run>', 'a run, as worktree list names it')
      .argument('[paths...]', 'only these paths')
      .option('-p, --patch', 'print a unified diff that git apply takes'),
  examples: [
    ['waymark worktree diff fix', 'what the run changed, from where it began to its worktree as it is'],
    ['waymark worktree diff fix --patch -- src', 'as a patch, below src'],
  ],
  async run(context, { words, literal, options }) {
    const [run = '', ...rest] = [...words, ...literal];
    const paths = absolutePaths(rest, context.cwd);
    const workspace = await context.workspace();
    if (options.flag('patch')) {
      const pieces = workspace.worktreePatch(run, { paths });
      if (context.format === 'json' || context.format === 'yaml') {
        const text = (await Array.fromAsync(pieces)).join('');
        return { data: () => ({ patch: text }) };
      }
      for await (const piece of pieces) {
        if (context.terminal.outputClosed) break;
        await context.terminal.stream(piece);
      }
      return {};
    }
    using _progress = progressLine(context.terminal, workspace);
    const diff = await workspace.worktreeDiff(run, { paths });
    const { changes, skipped, summary } = diff;
    return {
      data: () => worktreeDiffJson(diff),
      blocks: () => [...changeBlocks(changes), ...skipBlocks(skipped)],
      notes: [
        changes.length === 0
          ? 'No differences'
          : `${countText(changes.length, 'path')}: ${summaryText(summary)}`,
      ],
    };
  },
};
