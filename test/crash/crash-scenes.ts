import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type OpenOptions, openWaymark, type Waymark, type Workspace } from '../../src/index.ts';
import type { StepHook } from '../../src/platform/file-system.ts';
import { writeFiles } from '../support/files.ts';
import { Killed } from '../support/restore-crash.ts';
import { NOW, redrawTree, THEN } from '../support/restore-scene.ts';

/** Where a scene plays: a directory of its own, with the workspace and the home in it. */
export interface CrashPlace {
  readonly directory: string;
  readonly root: string;
  readonly engine: 'cas' | 'git';
}

export interface CrashScene {
  /** Brings workspace and home to the moment before. */
  prepare(workspace: Workspace, place: CrashPlace): Promise<void>;
  /** What is stopped somewhere. */
  act(workspace: Workspace, place: CrashPlace): Promise<unknown>;
  /** how many of the newest checkpoints are there afterwards in any case; undefined: all */
  readonly keeps?: number;
  /** the scene whose end is the other end of an interrupted restore */
  readonly otherEnd?: string;
}

const scenes = {
  'first capture': {
    prepare: async (_, { root }) => redrawTree(root, THEN),
    act: (workspace, { engine }) => workspace.createCheckpoint({ engine }),
  },
  'later capture': {
    prepare: prepareChange,
    act: (workspace, { engine }) => workspace.createCheckpoint({ engine, label: 'later' }),
  },
  'capture that drops': {
    prepare: async (workspace, place) => {
      await prepareHistory(workspace, place, 3);
      writeFiles(place.root, { 'waymark.toml': KEEP_TWO });
    },
    act: (workspace, { engine }) => workspace.createCheckpoint({ engine }),
    keeps: 1,
  },
  'new session': {
    prepare: async (workspace, place) => {
      await prepareHistory(workspace, place, 4);
      for (const { id } of (await workspace.listCheckpoints()).slice(2)) await workspace.deleteCheckpoint(id);
    },
    act: (workspace, { engine }) => workspace.createCheckpoint({ engine, session: 'new' }),
  },
  restore: {
    prepare: prepareChange,
    act: (workspace) => restoreOldest(workspace),
  },
  'restore of a part': {
    prepare: prepareChange,
    act: (workspace) => restoreOldest(workspace, ['names', 'edited.txt', 'dir-to-file', 'closed']),
  },
  undo: {
    prepare: async (workspace, place) => {
      await prepareChange(workspace, place);
      await restoreOldest(workspace);
    },
    act: (workspace) => workspace.undo({ confirm: 'always' }),
  },
  run: {
    prepare: async (workspace, { root, engine }) => {
      redrawTree(root, THEN);
      await workspace.createCheckpoint({ engine });
    },
    act: (workspace, { root, engine }) =>
      workspace.run({ label: 'agent', engine }, async () => redrawTree(root, NOW)),
  },
  deletion: {
    prepare: (workspace, place) => prepareHistory(workspace, place, 3),
    act: async (workspace) => {
      const [, second] = await workspace.listCheckpoints();
      await workspace.deleteCheckpoint(second?.id ?? '');
    },
    keeps: 1,
  },
  prune: {
    prepare: async (workspace, place) => {
      await prepareHistory(workspace, place, 5);
      writeFiles(place.root, { 'waymark.toml': KEEP_TWO });
    },
    act: (workspace) => workspace.prune(),
    keeps: 2,
  },
  purge: {
    prepare: async (workspace, place) => {
      writeFiles(place.root, { 'token.txt': randomBytes(5000) });
      await prepareHistory(workspace, place, 2);
      rmSync(path.join(place.root, 'token.txt'));
      await workspace.createCheckpoint({ engine: place.engine });
    },
    act: (workspace) => workspace.purge('token.txt', () => true),
  },
  'recovery that goes on': {
    prepare: prepareInterrupted,
    act: (workspace) => workspace.recover('continue'),
    otherEnd: 'recovery that goes back',
  },
  'recovery that goes back': {
    prepare: prepareInterrupted,
    act: (workspace) => workspace.recover('abort'),
    otherEnd: 'recovery that goes on',
  },
} satisfies Readonly<Record<string, CrashScene>>;

export type SceneName = keyof typeof scenes;

export const CRASH_SCENES: Readonly<Record<SceneName, CrashScene>> = scenes;

const KEEP_TWO = '[retention]\nkeep = 2\n[store.git]\nkeep = 2\n';

/** Opens the home of a place; `close` in the end. */
export async function openPlace(
  { directory, root }: CrashPlace,
  stepHook: StepHook,
  extra: Partial<OpenOptions> = {},
): Promise<AsyncDisposable & { readonly waymark: Waymark; readonly workspace: Workspace }> {
  const userHome = path.join(directory, 'home');
  for (const made of [userHome, root]) mkdirSync(made, { recursive: true });
  const waymark = await openWaymark({
    home: path.join(directory, 'waymark'),
    environment: { PATH: process.env['PATH'], HOME: userHome },
    userHome,
    temporaryDirectory: path.join(directory, 'tmp'),
    stepHook,
    ...extra,
  });
  const workspace = await waymark.openWorkspace(root);
  return { waymark, workspace, [Symbol.asyncDispose]: () => waymark[Symbol.asyncDispose]() };
}

async function prepareChange(workspace: Workspace, { root, engine }: CrashPlace): Promise<void> {
  redrawTree(root, THEN);
  await workspace.createCheckpoint({ engine });
  redrawTree(root, NOW);
}

/** Checkpoints of contents that have nothing in common and do not compress. */
async function prepareHistory(
  workspace: Workspace,
  { root, engine }: CrashPlace,
  count: number,
): Promise<void> {
  writeFiles(root, { same: 'same', 'sub/same': 'same' });
  for (let n = 0; n < count; n += 1) {
    writeFiles(root, { 'large.bin': randomBytes(20_000), [`sub/f${n}`]: `${n}` });
    await workspace.createCheckpoint({ engine, label: `${n}` });
  }
}

/** A restore that stopped half way. */
async function prepareInterrupted(workspace: Workspace, place: CrashPlace): Promise<void> {
  await prepareChange(workspace, place);
  let inWorkspace = 0;
  const stop: StepHook = (_, target) => {
    if (target.startsWith(`${place.root}/`) || target.includes('/proc/self/fd/')) inWorkspace += 1;
    if (inWorkspace > 40) throw new Killed('stopped half way');
  };
  await using stopped = await openPlace(place, stop);
  await restoreOldest(stopped.workspace).catch((error: unknown) => {
    if (!(error instanceof Killed)) throw error;
  });
}

async function restoreOldest(workspace: Workspace, paths: readonly string[] = []) {
  const oldest = (await workspace.listCheckpoints()).at(-1);
  return await workspace.restore({ checkpoint: oldest?.id ?? '', paths, confirm: 'always' });
}
