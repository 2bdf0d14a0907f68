import type { Confirm } from '../../checkpoints/api/restore.ts';
import { WaymarkError } from '../../domain/errors.ts';
import { consentTo } from '../consent.ts';
import type { CommandContext } from '../context.ts';
import { countText } from '../count-text.ts';

/** The consent for what changes files on behalf of a plan; where nobody can be asked and `--yes` is missing it refuses. */
export function planConsent(context: CommandContext, yes: boolean): Confirm {
  return (
    consentTo(context, yes, { clear: () => {} }) ??
    (({ plan }) => {
      throw new WaymarkError(
        'CONFIRMATION_REQUIRED',
        `This would change ${countText(plan.actions.length, 'path')} and needs your consent`,
        { hint: 'Look with --dry-run; go on with --yes' },
      );
    })
  );
}
