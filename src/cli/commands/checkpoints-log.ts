import { WaymarkError } from '../../domain/errors.ts';
import { quotePath } from '../../domain/rel-path.ts';
import type { CommandModule } from '../command.ts';
import { nodeJson } from '../json/entry-json.ts';
import { pathJson } from '../json/path-json.ts';
import { hashOf } from '../render/checkpoint-table.ts';
import { timeText } from '../time-text.ts';
import { workspacePath } from '../workspace-paths.ts';

/** `waymark checkpoints log PATH` */
export const checkpointsLog: CommandModule = {
  configure: (command) => command.argument('<path>', 'a path in the workspace'),
  examples: [['waymark checkpoints log src/app.ts', 'the versions of one file, newest first']],
  async run(context, { words, literal }) {
    const workspace = await context.workspace();
    const [typed = ''] = [...words, ...literal];
    const path = workspacePath(typed, context.cwd, workspace.identity.path);
    const versions = await workspace.log(path);
    if (versions.length === 0) {
      throw new WaymarkError('PATH_NOT_FOUND', `No checkpoint knows ${quotePath(path)}`);
    }
    return {
      data: () =>
        versions.map(({ checkpoint, node, action }) => ({
          checkpoint_id: checkpoint.id,
          session_id: checkpoint.sessionId,
          seq: checkpoint.seq,
          created_at: checkpoint.createdAt,
          reason: checkpoint.metadata.reason,
          source: checkpoint.metadata.source,
          path: pathJson(path),
          action: action ?? null,
          entry: nodeJson(node),
        })),
      blocks: () => [
        {
          kind: 'table',
          columns: [
            { title: 'Hash', tone: 'accent' },
            { title: 'Timestamp', tone: 'dim' },
            { title: 'Reason' },
            { title: 'Source' },
            { title: 'Action', tone: 'warn' },
            { title: 'Size' },
          ],
          rows: versions.map(({ checkpoint, node, action }) => [
            hashOf(checkpoint),
            timeText(checkpoint.createdAt),
            checkpoint.metadata.reason,
            checkpoint.metadata.source,
            action ?? 'same',
            node?.kind === 'file' ? String(node.size) : (node?.kind ?? 'absent'),
          ]),
        },
      ],
    };
  },
};
