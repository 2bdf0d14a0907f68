import { isWaymarkError } from '../../domain/errors.ts';
import type { WorkspaceContext } from './home-context.ts';

/**
 * The context for operations that go back. A `waymark.toml` that can't be read, perhaps the very thing to be taken back, must not stand in
 * their way: it is left out of account with a warning. What its rules protected is still protected by those frozen in the checkpoints.
 */
export function rescuing(context: WorkspaceContext): WorkspaceContext {
  return {
    ...context,
    settings: (workspace) => {
      try {
        return context.settings(workspace);
      } catch (error) {
        if (!isWaymarkError(error, 'CONFIG_INVALID')) throw error;
        context.warn(`${error.message}; it is left out of account`);
        return context.settingsWithoutFile(workspace);
      }
    },
  };
}
