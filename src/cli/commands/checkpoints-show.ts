import type { ShowResult } from '../../checkpoints/api/checkpoints.ts';
import { formatByteSize } from '../../config/byte-size.ts';
import { countText } from '../../domain/count-text.ts';
import { quotePath } from '../../domain/rel-path.ts';
import { isStored, type SnapshotNode } from '../../domain/snapshot.ts';
import { onlyName } from '../checkpoint-names.ts';
import type { CommandModule } from '../command.ts';
import { checkpointJson } from '../json/checkpoint-json.ts';
import { entryJson, modeText } from '../json/entry-json.ts';
import { pathJson } from '../json/path-json.ts';
import { problemJson } from '../json/problem-json.ts';
import { progressLine } from '../progress-line.ts';
import { type Block, line } from '../render/block.ts';
import { skipBlocks } from '../render/change-blocks.ts';
import type { Result } from '../render/result.ts';
import { withoutOwn } from '../render/without-own.ts';
import { timeText } from '../time-text.ts';

/** `waymark checkpoints show NAME` */
export const checkpointsShow: CommandModule = {
  configure: (command) =>
    command
      .argument('<checkpoint...>', 'an id, a unique part of one, @, @~1, a commit, or SESSION SEQ')
      .option('--files', 'list the stored paths too'),
  examples: [
    ['waymark checkpoints show @', 'the newest, with a check of all its content'],
    ['waymark checkpoints show nightly 3 --files', 'the fourth of session nightly, with its paths'],
  ],
  async run(context, { words, literal, options }) {
    const workspace = await context.workspace();
    const name = await onlyName([...words, ...literal], context.isSession);
    using _progress = progressLine(context.terminal, workspace);
    return render(await workspace.showCheckpoint(name), options.flag('files'));
  },
};

function render(shown: ShowResult, withFiles: boolean): Result {
  const { checkpoint, skipped, entries, problems } = shown;
  const told = withFiles ? skipped : withoutOwn(skipped);
  const restorable = checkpoint.restorable && problems.length === 0;
  return {
    data: () => ({
      ...checkpointJson(checkpoint, skipped),
      restorable,
      entries: entries.flatMap(([path, node]) =>
        isStored(node) ? [{ path: pathJson(path), ...entryJson(node) }] : [],
      ),
      problems: problems.map(problemJson),
    }),
    blocks: () => [
      { kind: 'fields', fields: fieldsOf({ ...shown, skipped: told }, restorable) },
      ...(withFiles ? [fileTable(entries)] : []),
      ...skipBlocks(told),
      ...problems.map(({ where, message }) => line(`${where}: ${message}`, 'bad')),
    ],
  };
}

function fieldsOf({ checkpoint, skipped, problems }: ShowResult, restorable: boolean) {
  const { metadata, coverage, git } = checkpoint;
  const optional: readonly (readonly [string, string | null | undefined])[] = [
    ['Label', checkpoint.label],
    ['Run', checkpoint.runId],
    ['Plan', checkpoint.planId],
    ['Decision', checkpoint.decisionId],
    ['Resource', checkpoint.resourceId],
    ['Tool', metadata.sourceTool],
    ['Phase', metadata.phase],
    ['Git', git === null ? null : `${git.head ?? 'no commit'} ${git.branch ?? '(detached)'}`],
  ];
  return [
    ['Checkpoint', checkpoint.id],
    ['Session', `${checkpoint.sessionId} ${checkpoint.seq}`],
    ['Type', checkpoint.type],
    ['Timestamp', timeText(checkpoint.createdAt)],
    ['Reason', metadata.reason],
    ['Source', metadata.source],
    ...optional.flatMap(([name, value]) => (value ? [[name, value] as const] : [])),
    ['Workspace', quotePath(checkpoint.workspace.path)],
    ['Engine', `${checkpoint.engine} ${checkpoint.sandboxRef}`],
    ['Size', formatByteSize(checkpoint.sizeBytes)],
    ['Coverage', `${coverage.status}, ${coverage.stored} stored, ${skipped.length} skipped`],
    ['Pinned', checkpoint.pinned ? 'yes' : 'no'],
    ['Restorable', restorable ? 'yes' : `no, ${countText(problems.length, 'problem')}`],
  ] as const;
}

function fileTable(entries: ShowResult['entries']): Block {
  const size = (node: SnapshotNode) => (node.kind === 'file' ? String(node.size) : '');
  const mode = (node: SnapshotNode) => ('mode' in node ? modeText(node.mode) : '');
  return {
    kind: 'table',
    columns: [{ title: 'Kind', tone: 'dim' }, { title: 'Mode' }, { title: 'Size' }, { title: 'Path' }],
    rows: entries
      .filter(([, node]) => isStored(node))
      .map(([path, node]) => [node.kind, mode(node), size(node), quotePath(path)]),
  };
}
