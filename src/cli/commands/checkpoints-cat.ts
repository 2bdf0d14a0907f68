import { WaymarkError } from '../../domain/errors.ts';
import { takeName } from '../checkpoint-names.ts';
import type { CommandModule } from '../command.ts';
import { workspacePath } from '../workspace-paths.ts';

/** `waymark checkpoints cat NAME PATH` */
export const checkpointsCat: CommandModule = {
  configure: (command) =>
    command.argument('<checkpoint-and-path...>', 'a checkpoint, then the path of a stored file or link'),
  examples: [
    ['waymark checkpoints cat @ src/app.ts', 'the file as it was in the newest checkpoint'],
    ['waymark checkpoints cat nightly 3 -- -rf', 'a file named -rf'],
  ],
  async run(context, { words, literal }) {
    const workspace = await context.workspace();
    const { name, rest } = await takeName(words, context.isSession);
    const [path, ...more] = [...rest, ...literal];
    if (path === undefined || more.length > 0) {
      throw new WaymarkError('USAGE', 'cat takes one checkpoint and one path');
    }
    for await (const piece of workspace.cat(
      name,
      workspacePath(path, context.cwd, workspace.identity.path),
    )) {
      if (context.terminal.outputClosed) break;
      await context.terminal.stream(piece);
    }
    return {};
  },
};
