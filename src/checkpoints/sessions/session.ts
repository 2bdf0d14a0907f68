import { parseSessionId, type SessionId } from '../../domain/ids.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';

/** Chooses the session: the given one, else the environment's, else the workspace's newest, else a new one. Creates it where it is new. */
export function useSession(
  context: WorkspaceContext,
  given: string | undefined,
): { readonly id: SessionId; readonly isNew: boolean } {
  const { catalog, currentSession, identity } = context;
  const named = given ?? currentSession;
  const id =
    named === undefined
      ? (catalog.sessions(identity.dirHash)[0]?.id ?? newSessionId(context))
      : parseSessionId(named);
  const isNew = catalog.session(id) === undefined;
  catalog.useSession(id);
  return { id, isNew };
}

export function newSessionId(context: WorkspaceContext): SessionId {
  return parseSessionId(context.ids.ulid().toLowerCase());
}
