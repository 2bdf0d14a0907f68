import { countText } from '../../domain/count-text.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { CorrectionResult } from '../../plans/plan-service.ts';
import type { CommandModule } from '../command.ts';
import { EXIT } from '../exit-status.ts';
import { correctionResultJson } from '../json/plan-json.ts';
import { given } from '../options.ts';
import { planConsent } from '../plans/plan-consent.ts';
import { textView } from '../plans/plan-live-view.ts';
import { planSignals } from '../plans/plan-signals.ts';
import { line } from '../render/block.ts';
import { changeBlocks, skipBlocks } from '../render/change-blocks.ts';
import type { Result } from '../render/result.ts';

/** `waymark plan correct --mode revert|append --guidance TEXT DECISION` */
export const planCorrect: CommandModule = {
  configure: (command) =>
    command
      .argument('<decision>', 'the decision (see: waymark plan tree)')
      .requiredOption(
        '--mode <mode>',
        'revert: go back to before it and run again; append: only add guidance',
      )
      .requiredOption('--guidance <text>', 'what agents of the plan are told from now on')
      .option('-n, --dry-run', 'show the impact, change nothing')
      .option('-q, --quiet', 'do not say what goes on')
      .option('-y, --yes', 'agree to what would be shown'),
  examples: [
    ['waymark plan correct --mode revert --guidance "keep the API" 01J8…', 'replace it and what follows'],
    ['waymark plan correct --mode append --guidance "use tabs" 01J8…', 'for the steps still to come'],
    ['waymark plan correct --mode revert --guidance x --dry-run 01J8…', 'what that would replace'],
  ],
  onInterrupt: 'own',
  async run(context, { words, literal, options }) {
    const [decision = ''] = [...words, ...literal];
    const mode = options.choice('mode', ['revert', 'append']);
    if (mode === undefined) throw new WaymarkError('USAGE', '--mode must be revert or append');
    const plans = await (await context.waymark()).plans();
    using signals = planSignals(process);
    const result = await plans.correct({
      decision,
      mode,
      guidance: options.text('guidance') ?? '',
      dryRun: options.flag('dryRun'),
      confirm: planConsent(context, options.flag('yes')).confirm,
      signal: signals.signal,
      ...given('onEvent', options.flag('quiet') ? undefined : textView(context.terminal, { output: true })),
    });
    return render(result);
  },
};

function render(result: CorrectionResult): Result {
  const { superseded, invalidatedPlans, rollback, correction, plan, dryRun } = result;
  const failed = !dryRun && correction?.mode === 'revert' && plan.state !== 'complete';
  return {
    data: () => correctionResultJson(result),
    blocks: () => [
      ...(superseded.length === 0
        ? []
        : [
            {
              kind: 'table' as const,
              columns: [
                { title: dryRun ? 'Would replace' : 'Replaced', tone: 'warn' as const },
                { title: 'Step' },
              ],
              rows: superseded.map(({ id, title }) => [id, title]),
            },
          ]),
      ...invalidatedPlans.map(({ id, name }) => line(`Subplan ${id} (${name}) no longer counts`, 'warn')),
      ...changeBlocks(rollback?.changes ?? []),
      ...skipBlocks(rollback?.skipped ?? []),
      line(
        dryRun
          ? 'Dry run: nothing was changed'
          : correction?.mode === 'append'
            ? `Guidance added to plan ${plan.id}`
            : `Plan ${plan.id}: ${countText(superseded.length, 'decision')} replaced, ${plan.phase}/${plan.state}`,
      ),
    ],
    warnings: rollback?.warnings ?? [],
    exitStatus: failed ? EXIT.failed : EXIT.done,
  };
}
