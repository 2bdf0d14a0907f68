import type { Preview } from '../../checkpoints/api/restore.ts';
import { countText } from '../../domain/count-text.ts';
import { isWantedChange } from '../../domain/wanted-change.ts';
import type { ApplyResult } from '../../plans/plan-service.ts';
import type { CommandModule } from '../command.ts';
import { EXIT } from '../exit-status.ts';
import { skipJson } from '../json/checkpoint-json.ts';
import { pathJson } from '../json/path-json.ts';
import { planJson } from '../json/plan-json.ts';
import { keptJson, keptWarning } from '../plans/kept-sandbox.ts';
import { planConsent } from '../plans/plan-consent.ts';
import { line } from '../render/block.ts';
import { outcomeBlocks, outcomeWarnings } from '../render/outcome-blocks.ts';
import type { Result } from '../render/result.ts';

/** `waymark plan apply PLAN` */
export const planApply: CommandModule = {
  configure: (command) =>
    command
      .argument('<plan>', 'a plan, or enough of its id')
      .option('-y, --yes', 'agree to what would be shown')
      .option('-n, --dry-run', 'show what would change, write nothing'),
  examples: [
    ['waymark plan apply 01J8ZQ4T', 'bring its result to the workspace; shows it and asks'],
    ['waymark plan apply 01J8ZQ4T --dry-run', 'what would change'],
  ],
  async run(context, { words, literal, options }) {
    const [name = ''] = [...words, ...literal];
    const plans = await (await context.waymark()).plans();
    const consent = planConsent(context, options.flag('yes'));
    const applied = await plans.apply(name, {
      dryRun: options.flag('dryRun'),
      confirm: consent.confirm,
    });
    return render(applied, options.flag('dryRun'), consent.shown);
  },
};

function render({ plan, result, kept }: ApplyResult, dryRun: boolean, shown: Preview | undefined): Result {
  const changes = result?.changes ?? [];
  const skipped = result?.skipped ?? [];
  const left = skipped.filter(isWantedChange).length;
  const done = dryRun
    ? 'Dry run: nothing was written'
    : left > 0
      ? `Applied in part: ${countText(left, 'path')} left alone; apply again once that is settled`
      : `Applied plan ${plan.id}: ${countText(changes.length, 'path')}`;
  const merged = result?.merged ?? [];
  const notes = [
    done,
    ...(merged.length === 0 ? [] : [`${countText(merged.length, 'file')} changed on both sides: merged`]),
  ];
  return {
    data: () => ({
      plan: planJson(plan),
      changes: changes.map(({ path, action }) => ({ path: pathJson(path), action })),
      skipped: skipped.map(skipJson),
      merged: merged.map(pathJson),
      safety_checkpoint_id: result?.safetyCheckpointId ?? null,
      operation_id: result?.operationId ?? null,
      kept_sandboxes: kept.map(keptJson),
      messages: notes,
      dry_run: dryRun,
    }),
    blocks: () => [...outcomeBlocks({ changes, skipped }, shown), ...notes.map((note) => line(note))],
    warnings: [...outcomeWarnings({ warnings: result?.warnings ?? [] }, shown), ...kept.map(keptWarning)],
    exitStatus: left > 0 ? EXIT.partial : EXIT.done,
  };
}
