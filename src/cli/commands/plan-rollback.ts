import { countText } from '../../domain/count-text.ts';
import type { RollbackResult } from '../../plans/checkpoints/checkpoint-service.ts';
import type { CommandModule } from '../command.ts';
import { EXIT } from '../exit-status.ts';
import { rollbackJson } from '../json/plan-json.ts';
import { planConsent } from '../plans/plan-consent.ts';
import { line } from '../render/block.ts';
import { outcomeBlocks, outcomeWarnings } from '../render/outcome-blocks.ts';

/** `waymark plan rollback [--yes|-y] PLAN CHECKPOINT` */
export const planRollback: CommandModule = {
  configure: (command) =>
    command
      .argument('<plan>', 'a plan, or enough of its id')
      .argument('<checkpoint>', 'one of its checkpoints (see: waymark plan checkpoint list)')
      .option('-y, --yes', 'skip the question')
      .option('-n, --dry-run', 'show what would change, write nothing'),
  examples: [
    ['waymark plan rollback 01J8… 01J9…', 'take its sandbox and decisions back; shows it and asks'],
    ['waymark plan rollback --yes 01J8… 01J9…', 'for scripts'],
  ],
  async run(context, { words, literal, options }) {
    const [plan = '', checkpoint = ''] = [...words, ...literal];
    const plans = await (await context.waymark()).plans();
    const consent = planConsent(context, options.flag('yes'));
    const result = await plans.rollback({
      plan,
      checkpoint,
      dryRun: options.flag('dryRun'),
      confirm: consent.confirm,
    });
    const { safetyCheckpointId, rolledBack } = result;
    return {
      data: () => rollbackJson(result),
      blocks: () => [
        { kind: 'fields', fields: summaryOf(result) },
        ...outcomeBlocks(result, consent.shown),
        ...result.messages.map((message) => line(message)),
        line(
          result.dryRun
            ? `${countText(rolledBack.length, 'decision')} would be taken back`
            : `${countText(rolledBack.length, 'decision')} taken back`,
          'dim',
        ),
        ...(safetyCheckpointId === null
          ? []
          : [
              line(`Safety checkpoint created at \`${safetyCheckpointId}\` — use this to undo the rollback.`),
            ]),
      ],
      warnings: outcomeWarnings(result, consent.shown),
      exitStatus: result.partial ? EXIT.partial : EXIT.done,
    };
  },
};

/** The envelope of seed 004 but for what it lists, under its names. */
function summaryOf(result: RollbackResult): readonly (readonly [string, string])[] {
  const { rollback_summary: summary, impact, post_rollback_state: state, timing } = rollbackJson(result);
  return [
    ['plan_id', summary.plan_id],
    ['from_checkpoint_id', summary.from_checkpoint_id],
    ['restored_files_count', String(summary.restored_files_count)],
    ['files_affected', String(impact.files_affected)],
    ['active_checkpoint', state.active_checkpoint],
    ['elapsed_seconds', String(timing.elapsed_seconds)],
  ];
}
