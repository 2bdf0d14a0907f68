import { countText } from '../../domain/count-text.ts';
import { namesText } from '../../domain/names-text.ts';
import type { PlanEvent } from '../../domain/plan-event.ts';
import { quotePath, type RelPath } from '../../domain/rel-path.ts';

const MOST_NAMED = 5;

/** Says what went back with a step that is run again, and how to have it as it was. */
export function takenBackText({ data, checkpointId }: Pick<PlanEvent, 'data' | 'checkpointId'>): string {
  const { title, directory } = data;
  const count = Number(data['count']);
  const paths = (data['paths'] as readonly RelPath[]).map(quotePath);
  return (
    `${countText(count, 'path')} of ${directory} went back to before "${title}" began: ${namesText(paths, MOST_NAMED, count)}. ` +
    `As they were: waymark checkpoints restore ${checkpointId} PATH --workspace ${quotePath(String(directory))}`
  );
}
