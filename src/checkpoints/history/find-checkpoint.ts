import type { Checkpoint } from '../../domain/checkpoint.ts';
import { WaymarkError } from '../../domain/errors.ts';
import { type CheckpointId, isUlid, parseSessionId } from '../../domain/ids.ts';
import type { CheckpointName } from '../api/checkpoints.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';

const NEWEST = /^@(?:~(\d{1,6}))?$/;
const MIN_AFFIX = 6;
/** characters at the end of an id that lists show */
const SHOWN = 8;

/**
 * Finds the checkpoint a name means: a ULID, a unique prefix or suffix of at least 6, the first 6 or 7 of its last 8, `@`, `@~1`, a shadow commit, or session and seq.
 * Checkpoints of every workspace are found (so that a foreign one can be told from a missing one); `@` counts the workspace's own.
 *
 * @throws WaymarkError `CHECKPOINT_NOT_FOUND`, `AMBIGUOUS_ID`, `SESSION_NOT_FOUND`
 */
export function findCheckpoint(context: WorkspaceContext, name: CheckpointName): Checkpoint {
  const { catalog } = context;
  if (typeof name !== 'string') return inSession(context, name.session, name.seq);
  const newest = NEWEST.exec(name);
  if (newest) {
    const own = catalog.checkpoints({ dirHash: context.identity.dirHash });
    return own[Number(newest[1] ?? 0)] ?? notSoMany(context, name, own.length);
  }
  const upper = name.toUpperCase();
  if (isUlid(upper)) return catalog.checkpoint(upper as CheckpointId) ?? notFound(name);
  if (name.length < MIN_AFFIX) {
    throw new WaymarkError('CHECKPOINT_NOT_FOUND', `No checkpoint is named "${name}"`, {
      hint: `Use a checkpoint id, at least ${MIN_AFFIX} of its first or last characters, "@", or a session and its number`,
    });
  }
  const lower = name.toLowerCase();
  const matches = catalog
    .checkpoints()
    .filter(
      ({ id, engine, sandboxRef }) =>
        id.startsWith(upper) ||
        id.endsWith(upper) ||
        id.slice(-SHOWN).startsWith(upper) ||
        (engine === 'git' && sandboxRef.startsWith(lower)),
    );
  const [only, second] = matches;
  if (only === undefined) return notFound(name);
  if (second === undefined) return only;
  throw new WaymarkError('AMBIGUOUS_ID', `"${name}" means ${matches.length} checkpoints`, {
    hint: `Give more characters: ${matches
      .slice(0, 5)
      .map(({ id }) => id)
      .join(', ')}${matches.length > 5 ? ', …' : ''}`,
    details: { matches: matches.map(({ id }) => id) },
  });
}

function inSession(context: WorkspaceContext, session: string, seq: number): Checkpoint {
  const id = parseSessionId(session);
  if (context.catalog.session(id) === undefined) {
    throw new WaymarkError('SESSION_NOT_FOUND', `No session is named "${session}"`, {
      hint: 'See: waymark checkpoints list',
    });
  }
  const found = context.catalog.checkpointAt(id, seq);
  return found ?? notFound(`${session} ${seq}`);
}

function notSoMany({ identity }: WorkspaceContext, name: string, count: number): never {
  if (count > 0) return notFound(name);
  throw new WaymarkError(
    'CHECKPOINT_NOT_FOUND',
    `No checkpoint is named "${name}": ${identity.path} has none yet`,
    {
      hint: 'Take one with: waymark checkpoints create',
    },
  );
}

function notFound(name: string): never {
  throw new WaymarkError('CHECKPOINT_NOT_FOUND', `No checkpoint is named "${name}"`, {
    hint: 'See: waymark checkpoints list',
  });
}
