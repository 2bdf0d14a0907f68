import type { Checkpoint } from '../../domain/checkpoint.ts';
import { isWaymarkError } from '../../domain/errors.ts';
import type { SessionId } from '../../domain/ids.ts';
import { namesText } from '../../domain/names-text.ts';
import { quotePath, type RelPath } from '../../domain/rel-path.ts';
import type { RestorePlan } from '../../restore/plan/restore-plan.ts';
import { changesBetween } from '../history/operation-changes.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { type SessionSpan, sessionSpans } from './session-spans.ts';

const MAX_NAMED = 10;

/** Names the planned paths that another session changed since the checkpoint. */
export async function otherSessions(
  context: WorkspaceContext,
  target: Checkpoint,
  plan: RestorePlan,
): Promise<readonly string[]> {
  const planned = new Set(plan.actions.map(({ path }) => path));
  const owner = new Map<RelPath, SessionId>();
  const spans = sessionSpans(context, target);
  if (planned.size === 0 || spans.every(({ session }) => session === target.sessionId)) return [];
  for (const span of spans) {
    const changed = span.to === undefined ? planned : await changedIn(context, span, span.to);
    const last = span.to === undefined;
    for (const path of changed) {
      if (planned.has(path) && !(last && owner.has(path))) owner.set(path, span.session);
    }
  }
  const foreign = Map.groupBy(
    [...owner].filter(([, session]) => session !== target.sessionId),
    ([, session]) => session,
  );
  return [...foreign].map(([session, paths]) => {
    const names = paths.map(([path]) => quotePath(path));
    return `Changed by session ${session} since: ${namesText(names, MAX_NAMED)}`;
  });
}

async function changedIn(
  context: WorkspaceContext,
  span: SessionSpan,
  to: Checkpoint,
): Promise<readonly RelPath[]> {
  try {
    return (await changesBetween(context, span.from, to)).map(({ path }) => path);
  } catch (error) {
    if (isWaymarkError(error)) return [];
    throw error;
  }
}
