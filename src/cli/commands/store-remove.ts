import { formatByteSize } from '../../config/byte-size.ts';
import { countText } from '../../domain/count-text.ts';
import type { CommandModule } from '../command.ts';
import { requireConsent } from '../consent.ts';
import { line } from '../render/block.ts';

/** `waymark store remove` */
export const storeRemove: CommandModule = {
  configure: (command) =>
    command
      .option('--store <engine>', 'git (default: the shadow repository) or cas')
      .option('-y, --yes', 'do not ask'),
  examples: [
    ['waymark store remove', 'the shadow repository of this workspace with all its checkpoints; asks first'],
    ['waymark store remove --store cas --yes', 'what the cas engine holds of this workspace'],
  ],
  async run(context, { options }) {
    const workspace = await context.workspace();
    const engine = options.choice('store', ['git', 'cas']) ?? 'git';
    const { checkpoints, bytesFreed } = await workspace.removeStore({
      engine,
      confirm: async (found) => {
        const what = `${countText(found.checkpoints, 'checkpoint')} of ${workspace.identity.path} on ${engine}`;
        await requireConsent(context, options.flag('yes'), `Remove ${what} for good?`);
        return true;
      },
    });
    return {
      data: () => ({ engine, workspace: workspace.identity.path, checkpoints, bytes_freed: bytesFreed }),
      blocks: () => [
        line(`Removed ${countText(checkpoints, 'checkpoint')}, freed ${formatByteSize(bytesFreed)}`),
      ],
    };
  },
};
