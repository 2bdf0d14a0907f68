import type { Confirm, Preview } from '../../checkpoints/api/restore.ts';
import { countText } from '../../domain/count-text.ts';
import { WaymarkError } from '../../domain/errors.ts';
import { type Consent, consentTo } from '../consent.ts';
import type { CommandContext } from '../context.ts';

/** A consent that is always there, if only to refuse. */
export interface PlanConsent extends Consent {
  readonly confirm: Confirm;
}

/** The consent for what changes files on behalf of a plan; where nobody can be asked and `--yes` is missing it refuses. */
export function planConsent(context: CommandContext, yes: boolean): PlanConsent {
  const consent = consentTo(context, yes, { clear: () => {} });
  const { confirm = refuse } = consent;
  return {
    confirm,
    get shown() {
      return consent.shown;
    },
  };
}

function refuse({ plan }: Preview): never {
  throw new WaymarkError(
    'CONFIRMATION_REQUIRED',
    `This would change ${countText(plan.actions.length, 'path')} and needs your consent`,
    { hint: 'Look with --dry-run; go on with --yes' },
  );
}
