import type { PlanEvent } from '../../domain/plan-event.ts';
import { planEventJson } from '../json/plan-json.ts';
import { paint } from '../render/paint.ts';
import { printable } from '../render/printable.ts';
import type { Terminal } from '../terminal.ts';
import { takenBackText } from './taken-back.ts';

/** Shows what a plan does while it does it, as lines on standard error. */
export function textView(
  terminal: Terminal,
  options: { readonly output: boolean },
): (event: PlanEvent) => void {
  const titles = new Map<string, string>();
  return (event) => {
    const { kind, data, decisionId } = event;
    if (kind === 'output') {
      if (options.output) terminal.err(printableLines(String(data['text'])));
      return;
    }
    // A step that is run again is started without being queued once more.
    if ((kind === 'step_queued' || kind === 'step_started') && decisionId !== null)
      titles.set(decisionId, String(data['title']));
    const text = lineOf(event, titles.get(decisionId ?? '') ?? '');
    if (text !== undefined)
      terminal.err(`${paint('waymark:', 'dim', terminal.colorErr)} ${printable(text)}\n`);
  };
}

/** The same as JSON lines on standard output. */
export function jsonView(terminal: Terminal): (event: PlanEvent) => void {
  return (event) => terminal.out(`${JSON.stringify(planEventJson(event))}\n`);
}

function lineOf({ kind, data, planId, checkpointId }: PlanEvent, title: string): string | undefined {
  switch (kind) {
    case 'plan_created':
      return `plan ${planId} (${data['name']})`;
    case 'step_started':
      return Number(data['attempt']) > 1 ? `${title}, attempt ${data['attempt']}` : title;
    case 'step_finished':
      return data['succeeded'] === true ? undefined : `${title} failed: ${messageOf(data['error'])}`;
    case 'checkpoint_failed':
      return `no ${data['checkpoint_type']} checkpoint: ${data['message']}`;
    case 'step_taken_back':
      return takenBackText({ data, checkpointId });
    case 'rolled_back':
      return `rolling back to ${checkpointId}`;
    case 'wave_entered':
      return 'subplans run side by side';
    default:
      return undefined;
  }
}

function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error
    ? String(error.message)
    : 'unknown error';
}

/** Control characters of a command's output do not reach the terminal, but for line ends and tabs. */
function printableLines(text: string): string {
  return text
    .split('\n')
    .map((line) => line.split('\t').map(printable).join('\t'))
    .join('\n');
}
