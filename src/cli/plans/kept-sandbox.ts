import { namesText } from '../../domain/names-text.ts';
import { quotePath } from '../../domain/rel-path.ts';
import type { KeptSandbox } from '../../plans/sandbox/discard-sandboxes.ts';
import type { HeldNowhere } from '../../plans/sandbox/held-nowhere.ts';
import { pathJson } from '../json/path-json.ts';

const WORDS: Readonly<Record<HeldNowhere['reason'], string>> = {
  unheld: '',
  secret: ' (a secret)',
  changed: ' (changed since)',
  commits: ' (commits of the repository there)',
  staged: ' (staged)',
  unreadable: ' (unreadable)',
};

/** Says why a sandbox stays, and what to do with it. */
export function keptWarning({ plan, unheld, because }: KeptSandbox): string {
  const names = unheld.map(({ path, reason }) => `${quotePath(path)}${WORDS[reason]}`);
  const why = because ?? `nothing else holds ${namesText(names)}`;
  return `The sandbox ${quotePath(plan.sandbox.path)} stays: ${why}. Copy away what you need, then delete it`;
}

export function keptJson({ plan, unheld, because }: KeptSandbox) {
  return {
    plan_id: plan.id,
    path: pathJson(plan.sandbox.path),
    because: because ?? null,
    unheld: unheld.map(({ path, reason }) => ({ path: pathJson(path), reason })),
  };
}
