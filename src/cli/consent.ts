import type { Confirm, Preview } from '../checkpoints/api/restore.ts';
import { countText } from '../domain/count-text.ts';
import { summarize } from '../domain/diff.ts';
import { WaymarkError } from '../domain/errors.ts';
import type { CommandContext } from './context.ts';
import { line } from './render/block.ts';
import { changeBlocks, skipBlocks } from './render/change-blocks.ts';
import { renderRich } from './render/render-rich.ts';
import { summaryText } from './summary-text.ts';

const PREVIEW_ROWS = 40;

/** How a plan gets its consent, and what the person saw for it. */
export interface Consent {
  /** Undefined: nobody can be asked, and the operation refuses with `CONFIRMATION_REQUIRED`. */
  readonly confirm: Confirm | undefined;
  /** The preview that stands in full on the screen the result goes to, once it was agreed to. */
  readonly shown: Preview | undefined;
}

/** The consent for a plan: `--yes` agrees, at a terminal the person is shown the plan and asked. */
export function consentTo(context: CommandContext, yes: boolean, progress: { clear(): void }): Consent {
  const { terminal, format } = context;
  if (yes) return { confirm: 'always', shown: undefined };
  if (!terminal.canAsk) return { confirm: undefined, shown: undefined };
  let shown: Preview | undefined;
  return {
    confirm: async (preview) => {
      progress.clear();
      terminal.err(previewText(preview, terminal.colorErr));
      if (terminal.outIsTerminal && format === 'rich' && isInFull(preview)) shown = preview;
      return await ask(questionOf(preview));
    },
    get shown() {
      return shown;
    },
  };
}

function isInFull({ plan }: Preview): boolean {
  return plan.actions.length <= PREVIEW_ROWS && plan.skips.length <= PREVIEW_ROWS;
}

/**
 * Asks a yes-or-no question for something that can't be taken back.
 *
 * @throws WaymarkError `CONFIRMATION_REQUIRED` without a terminal and `--yes`, `DECLINED` where the answer is no
 */
export async function requireConsent(context: CommandContext, yes: boolean, question: string): Promise<void> {
  if (yes) return;
  if (!context.terminal.canAsk) {
    throw new WaymarkError('CONFIRMATION_REQUIRED', `${question} Nobody can be asked here`, {
      hint: 'Add --yes to agree',
    });
  }
  if (!(await ask(question))) throw new WaymarkError('DECLINED', 'Declined: nothing was changed');
}

/** Asks on standard error; the end of the input (Ctrl-D) is no. @throws WaymarkError `INTERRUPTED` for Ctrl-C */
export async function ask(question: string): Promise<boolean> {
  const { confirm, isCancel } = await import('@clack/prompts');
  // A terminal may not know its size (columns 0), and the prompt would wrap after each character.
  for (const stream of [process.stdout, process.stderr]) stream.columns ||= 80;
  using input = endOfInput(process.stdin);
  const answer = await confirm({
    message: question,
    initialValue: false,
    output: process.stderr,
    signal: input.ended,
  });
  if (input.ended.aborted) return false;
  if (isCancel(answer)) throw new WaymarkError('INTERRUPTED', 'Interrupted: nothing was changed');
  return answer;
}

/** Aborts a question that the prompt itself would wait for without end. */
function endOfInput(stdin: NodeJS.ReadStream): Disposable & { readonly ended: AbortSignal } {
  const controller = new AbortController();
  const end = () => controller.abort();
  const onKey = (_text: unknown, key?: { readonly name?: string; readonly ctrl?: boolean }) => {
    if (key?.ctrl && key.name === 'd') end();
  };
  stdin.on('keypress', onKey).on('end', end).on('close', end).on('error', end);
  return {
    ended: controller.signal,
    [Symbol.dispose]: () => {
      stdin.off('keypress', onKey).off('end', end).off('close', end).off('error', end);
    },
  };
}

/** What will happen, for people. */
export function previewText(preview: Preview, colors: boolean): string {
  const { plan, warnings, verifyCommand } = preview;
  return renderRich(
    [
      ...changeBlocks(plan.actions, PREVIEW_ROWS),
      ...skipBlocks(plan.skips, PREVIEW_ROWS),
      ...warnings.map((warning) => line(warning, 'warn')),
      ...(verifyCommand === undefined ? [] : [line(`Then runs: ${verifyCommand}`, 'strong')]),
    ],
    colors,
  );
}

function questionOf({ kind, plan, target, operation }: Preview): string {
  const counts = summaryText(summarize(plan.actions));
  const paths = `${countText(plan.actions.length, 'path')}${counts === '' ? '' : ` (${counts})`}`;
  if (kind === 'undo') return `Take back "${operation?.description ?? ''}": ${paths}?`;
  if (kind === 'redo') return `Redo "${operation?.description ?? ''}": ${paths}?`;
  return target === undefined
    ? `Change ${paths}?`
    : `Restore checkpoint ${target.id} (${target.metadata.reason}): ${paths}?`;
}
