import { realpathSync } from 'node:fs';
import path from 'node:path';
import type { Checkpoint } from '../../domain/checkpoint.ts';
import { summarize } from '../../domain/diff.ts';
import { WaymarkError } from '../../domain/errors.ts';
import { isBelow } from '../../domain/rel-path.ts';
import { entriesToWrite, materialize } from '../../restore/apply/materialize.ts';
import type { RestoreOptions, RestoreResult } from '../api/restore.ts';
import { openSnapshot } from '../history/open-snapshot.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';

/** Writes a checkpoint into a missing or empty directory. The workspace is not touched, so nothing needs to be held or asked. */
export async function materializeCheckpoint(
  context: WorkspaceContext,
  checkpoint: Checkpoint,
  options: RestoreOptions,
): Promise<RestoreResult> {
  const started = context.clock.now();
  const into = targetDirectory(context, options.into ?? '');
  const store = context.store(checkpoint.engine, checkpoint.workspace);
  await using _hold = await store.hold('shared', 30_000);
  const { view } = await openSnapshot(context, checkpoint);
  const entries = entriesToWrite(view, { paths: options.paths ?? [] });
  const dryRun = options.dryRun ?? false;
  const skips = dryRun
    ? []
    : await materialize({
        view,
        entries,
        origin: checkpoint.workspace.path,
        into,
        content: (hash) => store.streamBlob(hash),
        fs: context.fs,
        preserveMtime: options.preserveMtime ?? false,
        signal: options.signal,
        onProgress: (done) => context.progress({ phase: 'apply', done, total: entries.length }),
      });
  const skipped = new Set(skips.map(({ path: skippedPath }) => skippedPath));
  const changes = entries
    .filter(([file]) => !skipped.has(file))
    .map(([file]) => ({ path: file, action: 'create' as const }));
  return {
    dryRun,
    target: checkpoint,
    sessionId: checkpoint.sessionId,
    safetyCheckpointId: null,
    operationId: null,
    changes,
    summary: summarize(changes),
    skipped: skips,
    warnings: [],
    verified: undefined,
    elapsedMs: context.clock.now() - started,
    messages: [
      dryRun
        ? 'Dry run: nothing was written'
        : `Wrote checkpoint \`${checkpoint.id}\` (\`${checkpoint.metadata.reason}\`) into ${into}`,
    ],
  };
}

/** The real place of the directory to write, which must lie outside `WAYMARK_HOME`. */
function targetDirectory(context: WorkspaceContext, into: string): string {
  const absolute = path.resolve(context.identity.path, into);
  const parent = path.dirname(absolute);
  let place: string;
  try {
    place = path.join(realpathSync(parent), path.basename(absolute));
  } catch (cause) {
    throw new WaymarkError('PATH_NOT_FOUND', `The directory ${parent} does not exist`, { cause });
  }
  if (place.split('/').some((part) => part.toLowerCase() === '.git')) {
    throw new WaymarkError('UNSAFE_PATH', `${place} lies inside a .git directory`);
  }
  const home = realpathSync(context.layout.home);
  if (place === home || isBelow(place, home)) {
    throw new WaymarkError('UNSAFE_PATH', `${place} lies inside WAYMARK_HOME`);
  }
  return place;
}
