import { CHECKPOINT_TYPES } from '../../domain/checkpoint.ts';
import { type DecisionId, parseUlid } from '../../domain/ids.ts';
import type { CommandModule } from '../command.ts';
import { EXIT } from '../exit-status.ts';
import { checkpointJson } from '../json/checkpoint-json.ts';
import { given } from '../options.ts';
import { line } from '../render/block.ts';
import { coverageText } from '../render/coverage-text.ts';

/** `waymark plan checkpoint create PLAN` */
export const planCheckpointCreate: CommandModule = {
  configure: (command) =>
    command
      .argument('<plan>', 'a plan, or enough of its id')
      .option('--type <type>', `${CHECKPOINT_TYPES.join(', ')} (default: manual)`)
      .option('--reason <text>', 'why (default: the type)')
      .option('--sandbox-ref <ref>', 'record this checkpoint of the sandbox again instead of capturing it')
      .option('--decision <id>', 'the decision it belongs to')
      .option('--resource <id>', 'the resource it belongs to'),
  examples: [
    ['waymark plan checkpoint create 01J8ZQ4T --reason "pre-correction snapshot"', 'its sandbox as it is'],
    ['id=$(waymark plan checkpoint create 01J8ZQ4T --format plain)', 'for scripts: prints only the id'],
  ],
  async run(context, { words, literal, options }) {
    const [name = ''] = [...words, ...literal];
    const waymark = await context.waymark();
    const plans = await waymark.plans();
    const plan = plans.find(name);
    const decision = options.text('decision');
    const { checkpointId } = await plans.checkpoints.createCheckpoint({
      planId: plan.id,
      checkpointType: options.choice('type', CHECKPOINT_TYPES) ?? 'manual',
      metadata: { phase: plan.phase, ...given('reason', options.text('reason')) },
      ...given('sandboxRef', options.text('sandboxRef')),
      ...given('decisionId', decision === undefined ? undefined : parseUlid<DecisionId>(decision)),
      ...given('resourceId', options.text('resource')?.toUpperCase()),
    });
    const [checkpoint] = (await waymark.listCheckpoints({ plan: plan.id, everywhere: true })).filter(
      ({ id }) => id === checkpointId,
    );
    const partial = checkpoint?.coverage.status === 'partial';
    return {
      data: () => ({ checkpoint: checkpoint === undefined ? null : checkpointJson(checkpoint) }),
      plain: () => [line(checkpointId)],
      blocks: () => [line(`Checkpoint ${checkpointId} of plan ${plan.id}`, 'good')],
      notes: partial && checkpoint !== undefined ? coverageText(checkpoint.coverage) : [],
      exitStatus: partial ? EXIT.partial : EXIT.done,
    };
  },
};
