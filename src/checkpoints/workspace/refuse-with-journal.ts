import { WaymarkError } from '../../domain/errors.ts';
import { readJournal } from '../../restore/journal/journal.ts';
import type { WorkspaceContext } from './home-context.ts';

/** @throws WaymarkError `RESTORE_INTERRUPTED` while the journal of a restore that did not finish is open */
export function refuseWithJournal(context: WorkspaceContext): void {
  const journal = readJournal(context.layout, context.identity.dirHash);
  if (journal === undefined) return;
  throw new WaymarkError(
    'RESTORE_INTERRUPTED',
    `A ${journal.kind} of ${context.identity.path} was interrupted (operation ${journal.operationId})`,
    { hint: 'Finish it with: waymark recover --continue, or take it back with: waymark recover --abort' },
  );
}
