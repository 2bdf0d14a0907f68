import type { WorkspaceStatus } from '../../checkpoints/api/status.ts';
import { formatByteSize } from '../../config/byte-size.ts';
import { formatDuration } from '../../config/duration.ts';
import type { ResolvedSettings, SettingOrigin } from '../../config/settings.ts';
import { countText } from '../../domain/count-text.ts';
import { quotePath } from '../../domain/rel-path.ts';
import type { CommandModule } from '../command.ts';
import { checkpointJson, skipJson } from '../json/checkpoint-json.ts';
import { pathJson } from '../json/path-json.ts';
import type { Block } from '../render/block.ts';
import { skipBlocks } from '../render/change-blocks.ts';
import { withoutOwn } from '../render/without-own.ts';
import { timeText } from '../time-text.ts';

/** `waymark status` */
export const status: CommandModule = {
  configure: (command) => command,
  examples: [
    ['waymark status', 'settings and their origin, the last checkpoint, what is not covered, the space used'],
    ['waymark status --format json', 'the same for a program'],
  ],
  async run(context) {
    const workspace = await context.workspace();
    const settings = await context.settings();
    const state = await workspace.status();
    return {
      data: () => json(state, settings),
      blocks: () => [
        { kind: 'fields', fields: fieldsOf(state, settings) },
        ...skipBlocks(withoutOwn(state.notCovered), 20),
        settingsTable(settings),
      ],
      notes: notesOf(state),
    };
  },
};

function json(state: WorkspaceStatus, { origins, workspaceFile }: ResolvedSettings) {
  return {
    workspace: pathJson(state.workspace.path),
    dir_hash: state.workspace.dirHash,
    home: pathJson(state.home),
    config_file: workspaceFile === undefined ? null : pathJson(workspaceFile),
    settings: origins.map(({ key, value, origin }) => ({ key, value: value ?? null, origin })),
    last_checkpoint: state.lastCheckpoint === undefined ? null : checkpointJson(state.lastCheckpoint),
    checkpoint_count: state.checkpointCount,
    open_runs: state.openRuns,
    interrupted_restore:
      state.interruptedRestore === undefined
        ? null
        : {
            operation_id: state.interruptedRestore.operationId,
            started_at: state.interruptedRestore.startedAt,
          },
    not_covered: { count: state.notCoveredCount, paths: state.notCovered.map(skipJson) },
    store: {
      bytes: state.storeBytes,
      max_bytes: state.maxStoreBytes,
      prune_would_free: state.pruneWouldFree ?? null,
    },
    damaged_journal: state.damagedJournal ?? null,
    retention_paused: state.retentionPaused,
    checkpoints_below: state.checkpointsBelow.map(pathJson),
    orphans: state.orphans.map(({ path, ...rest }) => ({ workspace: pathJson(path), ...rest })),
  };
}

function fieldsOf(state: WorkspaceStatus, { workspaceFile }: ResolvedSettings) {
  const last = state.lastCheckpoint;
  const notCovered = state.notCoveredCount - (state.notCovered.length - withoutOwn(state.notCovered).length);
  return [
    ['Workspace', quotePath(state.workspace.path)],
    ['Home', quotePath(state.home)],
    ['Config file', workspaceFile === undefined ? 'none' : quotePath(workspaceFile)],
    ['Checkpoints', String(state.checkpointCount)],
    [
      'Last checkpoint',
      last === undefined ? 'none' : `${timeText(last.createdAt)} ${last.id} ${last.metadata.reason}`,
    ],
    [
      'Coverage',
      last === undefined
        ? 'unknown'
        : `${last.coverage.status}, ${countText(notCovered, 'path')} not covered`,
    ],
    ['Store', `${formatByteSize(state.storeBytes)} of ${formatByteSize(state.maxStoreBytes)}`],
    ...state.openRuns.map(
      ({ id, kind, pid, label, since }) =>
        [`Open ${kind}`, `${id} (process ${pid}, ${label}, since ${timeText(since)})`] as const,
    ),
  ] as const;
}

function settingsTable({ origins }: ResolvedSettings): Block {
  return {
    kind: 'table',
    columns: [{ title: 'Setting' }, { title: 'Value', tone: 'accent' }, { title: 'From', tone: 'dim' }],
    rows: origins.map((setting) => [setting.key, valueText(setting), setting.origin]),
  };
}

function valueText({ key, value }: SettingOrigin): string {
  if (value === undefined) return 'none';
  if (typeof value === 'number' && key.endsWith('_bytes')) return formatByteSize(value);
  if (typeof value === 'number' && key.endsWith('_age')) return formatDuration(value);
  return Array.isArray(value) ? value.join(', ') || 'none' : String(value);
}

function notesOf(state: WorkspaceStatus): readonly string[] {
  return [
    ...(state.interruptedRestore === undefined
      ? []
      : ['A restore was interrupted: waymark recover --continue or waymark recover --abort']),
    ...(state.damagedJournal === undefined
      ? []
      : [`A restore was interrupted. ${state.damagedJournal}: waymark recover --set-aside`]),
    ...(state.pruneWouldFree === undefined
      ? []
      : [
          `The store is over its bytes: waymark checkpoints prune would free ${formatByteSize(state.pruneWouldFree)}`,
        ]),
    ...(state.retentionPaused
      ? ['The catalog was rebuilt: nothing is dropped until waymark checkpoints prune']
      : []),
    ...orphanNotes(state.orphans),
    ...(state.lastCheckpoint === undefined
      ? state.checkpointsBelow.slice(0, 3).map((path) => `There are checkpoints of ${path}`)
      : []),
  ];
}

/** What lies below `.waymark` is a sandbox or a worktree of ours, removed on purpose. */
function orphanNotes(all: WorkspaceStatus['orphans']): readonly string[] {
  const orphans = all.filter(({ path }) => !path.split('/').includes('.waymark'));
  const [first] = orphans;
  if (first === undefined) return [];
  const checkpoints = countText(
    orphans.reduce((sum, orphan) => sum + orphan.checkpoints, 0),
    'checkpoint',
  );
  const whose =
    orphans.length === 1
      ? `of ${quotePath(first.path)}, which is ${first.state}`
      : `of ${orphans.length} directories that are missing or replaced (${quotePath(first.path)}, …)`;
  return [`${checkpoints} ${whose}: kept until waymark checkpoints prune --orphans`];
}
