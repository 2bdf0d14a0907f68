import type { JournalSetAside } from '../../checkpoints/api/restore.ts';
import { WaymarkError } from '../../domain/errors.ts';
import { quotePath } from '../../domain/rel-path.ts';
import type { CommandModule } from '../command.ts';
import { pathJson } from '../json/path-json.ts';
import { progressLine } from '../progress-line.ts';
import { line } from '../render/block.ts';
import type { Result } from '../render/result.ts';
import { restoreOutcome } from '../restore-outcome.ts';

/** `waymark recover --continue | --abort | --set-aside` */
export const recover: CommandModule = {
  configure: (command) =>
    command
      .option('--continue', 'bring the workspace to where the restore was going')
      .option('--abort', 'bring it back to where the restore began')
      .option('--set-aside', 'keep a journal that cannot be read under another name, and say how to go back'),
  examples: [
    ['waymark recover --continue', 'finish a restore that was interrupted'],
    ['waymark recover --abort', 'take it back instead'],
    ['waymark recover --set-aside', 'where its journal is damaged: the way to its safety checkpoint'],
  ],
  async run(context, { options }) {
    const chosen = (['continue', 'abort', 'setAside'] as const).filter((mode) => options.flag(mode));
    const [mode] = chosen;
    if (mode === undefined || chosen.length > 1) {
      throw new WaymarkError('USAGE', 'recover needs one of --continue, --abort and --set-aside', {
        hint: '--continue finishes the interrupted restore, --abort takes it back, --set-aside is for a damaged journal',
      });
    }
    const workspace = await context.workspace();
    if (mode === 'setAside') return asideOutcome(await workspace.setJournalAside());
    using _progress = progressLine(context.terminal, workspace);
    return restoreOutcome(await workspace.recover(mode));
  },
};

function asideOutcome(aside: JournalSetAside): Result {
  const { file, problem, operation, safety, leftovers, warnings } = aside;
  const which = aside.safetyIsGuessed ? 'The newest safety checkpoint' : 'Safety checkpoint';
  const holds = aside.safetyIsGuessed ? 'probably holds' : 'holds';
  const messages = [
    problem,
    `It is kept as ${file}`,
    operation === undefined
      ? 'Which restore it belongs to is not known; it may be half done: each path is as before it or as after it'
      : `The ${operation.kind} of ${operation.startedAt} (operation ${operation.id}) may be half done: each path is as before it or as after it`,
    safety === undefined
      ? 'No safety checkpoint of it was found; see: waymark checkpoints list'
      : `${which} \`${safety.id}\` ${holds} the workspace as it was before and is pinned: waymark checkpoints restore ${safety.id}`,
    ...(leftovers.length === 0
      ? []
      : ['What is left over may hold files that were moved out of the way; look at it before you remove it']),
  ];
  return {
    data: () => ({
      journal: pathJson(file),
      problem,
      operation_id: operation?.id ?? null,
      safety_checkpoint_id: safety?.id ?? null,
      leftovers: leftovers.map(pathJson),
      messages,
    }),
    blocks: () => [
      ...leftovers.map((path) => line(`left over: ${quotePath(path)}`, 'warn')),
      ...messages.map((message) => line(message)),
    ],
    warnings,
  };
}
