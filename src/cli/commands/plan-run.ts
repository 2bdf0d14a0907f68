import { resolve } from 'node:path';
import type { Decision } from '../../domain/decision.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { Plan } from '../../domain/plan.ts';
import type { PlanEvent } from '../../domain/plan-event.ts';
import type { ExecuteOptions } from '../../plans/plan-service.ts';
import type { CommandModule } from '../command.ts';
import { ask } from '../consent.ts';
import type { CommandContext } from '../context.ts';
import { planJson } from '../json/plan-json.ts';
import { given } from '../options.ts';
import { jsonView, textView } from '../plans/plan-live-view.ts';
import { planOutcome } from '../plans/plan-outcome.ts';
import { planSignals } from '../plans/plan-signals.ts';
import { takenBackText } from '../plans/taken-back.ts';

/** `waymark plan run FILE [--worktree] [--resume PLAN]` */
export const planRun: CommandModule = {
  configure: (command) =>
    command
      .argument('[file]', 'the plan: YAML, or JSON where the name ends in .json')
      .option('--worktree', 'run it in a git worktree of its own, off HEAD')
      .option('--resume <plan>', 'go on with what is left of a plan')
      .option('--session <id>', 'the session (default: WAYMARK_SESSION, else a new one)')
      .option(
        '--var <name=value>',
        'a value for {{ name }} that the file does not give; may be repeated',
        collect,
      )
      .option('-q, --quiet', 'do not say what goes on; with --format json: print the plan alone')
      .option('-y, --yes', 'run a step again that began and could not be taken back'),
  examples: [
    ['waymark plan run refactor.yaml', 'in the workspace itself'],
    ['waymark plan run refactor.yaml --worktree', 'in a worktree; waymark plan apply brings the result'],
    ['waymark plan run --resume 01J8ZQ4T', 'go on after a failure or a kill'],
    [
      'waymark plan run refactor.yaml --format json',
      'for a program: a JSON line for every event, the plan as the last',
    ],
  ],
  onInterrupt: 'own',
  async run(context, { words, literal, options }) {
    const [file, ...more] = [...words, ...literal];
    const resume = options.text('resume');
    if ((file === undefined) === (resume === undefined) || more.length > 0)
      throw new WaymarkError('USAGE', 'plan run takes one file, or --resume PLAN');
    const quiet = options.flag('quiet');
    const events = context.format === 'json' && !quiet;
    const takenBack: string[] = [];
    const noteTakenBack = (event: PlanEvent) => {
      if (event.kind === 'step_taken_back') takenBack.push(takenBackText(event));
    };
    using signals = planSignals(process);
    const execute: ExecuteOptions = {
      signal: signals.signal,
      ...given('mayRepeat', mayRepeat(context, options.flag('yes'))),
      onEvent: events
        ? jsonView(context.terminal)
        : quiet
          ? noteTakenBack
          : textView(context.terminal, { output: true }),
    };
    const plans = await (await context.waymark()).plans();
    const outcome = (plan: Plan) => {
      if (events) context.terminal.out(`${JSON.stringify({ kind: 'plan', ...planJson(plan) })}\n`);
      return { ...planOutcome(plan, { printed: events }), warnings: takenBack };
    };
    if (resume !== undefined) {
      const before = plans.find(resume);
      const plan = await plans.resume(resume, execute);
      const result = outcome(plan);
      const untouched = before.id === plan.id && before.updatedAt === plan.updatedAt;
      if (plan.state !== 'complete' || !untouched) return result;
      const note = `Plan ${plan.id} is complete: nothing is left to run`;
      return { ...result, notes: [note, ...(result.notes ?? [])] };
    }
    const workspace = await context.workspace();
    const plan = await plans.run({
      ...execute,
      file: resolve(context.cwd, file ?? ''),
      workspace: workspace.identity.path,
      worktree: options.flag('worktree'),
      allowRoot: options.flag('allowRoot'),
      variables: variablesOf(options.list('var')),
      ...given('session', options.text('session')),
    });
    return outcome(plan);
  },
};

function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

function mayRepeat(
  { terminal }: CommandContext,
  yes: boolean,
): ((decision: Decision) => Promise<boolean>) | undefined {
  if (yes) return async () => true;
  if (!terminal.canAsk) return undefined;
  return ({ title, id }) =>
    ask(`"${title}" (${id}) began and did not finish, and it cannot be taken back. Run it again?`);
}

function variablesOf(assignments: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    assignments.map((assignment) => {
      const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(assignment) ?? [];
      if (name === undefined || value === undefined)
        throw new WaymarkError('USAGE', `--var needs NAME=VALUE, not "${assignment}"`);
      return [name, value] as const;
    }),
  );
}
