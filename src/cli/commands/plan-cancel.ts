import { quotePath } from '../../domain/rel-path.ts';
import type { CommandModule } from '../command.ts';
import { requireConsent } from '../consent.ts';
import { planJson } from '../json/plan-json.ts';
import { line } from '../render/block.ts';

/** `waymark plan cancel PLAN` */
export const planCancel: CommandModule = {
  configure: (command) =>
    command.argument('<plan>', 'a plan, or enough of its id').option('-y, --yes', 'do not ask'),
  examples: [['waymark plan cancel 01J8ZQ4T', 'stop it; its sandbox goes after a final checkpoint']],
  async run(context, { words, literal, options }) {
    const [name = ''] = [...words, ...literal];
    const plans = await (await context.waymark()).plans();
    const { id, name: title, sandbox } = plans.find(name);
    const removal = sandbox.strategy === 'none' ? '' : ', and remove its sandbox after a final checkpoint';
    await requireConsent(context, options.flag('yes'), `Cancel plan ${id} (${title})${removal}?`);
    const plan = await plans.cancel(id);
    const asked = plan.state === 'cancelled' ? 'Cancelled' : 'Asked the running process to cancel';
    const kept =
      plan.state === 'cancelled' && plan.sandbox.state === 'ready' && plan.sandbox.strategy !== 'none';
    return {
      data: () => planJson(plan),
      blocks: () => [line(`${asked} plan ${plan.id}`)],
      warnings: kept
        ? [`Its sandbox stays, since it holds what no checkpoint does: ${quotePath(plan.sandbox.path)}`]
        : [],
    };
  },
};
