import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckpointRecord } from '../../src/domain/checkpoint.ts';
import { coverageOf } from '../../src/domain/coverage.ts';
import type { DraftEdit, FileReading, SnapshotDraft } from '../../src/domain/draft.ts';
import type { CheckpointId, ContentHash, DirHash, SessionId } from '../../src/domain/ids.ts';
import type { RelPath } from '../../src/domain/rel-path.ts';
import { DEFAULT_LIMITS, type FrozenRules } from '../../src/domain/rules.ts';
import type { SnapshotNode, SnapshotView } from '../../src/domain/snapshot.ts';
import type { WorkspaceIdentity } from '../../src/domain/workspace.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { StepHook } from '../../src/platform/file-system.ts';
import { createGit, type Git } from '../../src/platform/git-process.ts';
import { homeLayout } from '../../src/platform/home-layout.ts';
import { createIds } from '../../src/platform/ids.ts';
import { createFileSystem } from '../../src/platform/node-file-system.ts';
import { createLocks } from '../../src/platform/sqlite-locks.ts';
import { openShadowGitStore, type ShadowGitOptions } from '../../src/stores/shadow-git/shadow-git-store.ts';
import type { PublishedCheckpoint, SnapshotStore, WrittenSnapshot } from '../../src/stores/snapshot-store.ts';

export const RULES: FrozenRules = {
  version: 1,
  limits: DEFAULT_LIMITS,
  include: [],
  exclude: [],
  ignoreFiles: [{ dir: '', source: '.gitignore', text: '*.log\n' }],
  trackedExceptions: [],
  forbidden: [],
  selection: [],
};

/** What a test puts at a path: content of a file (mode 0644), or a node. `null` takes it away. */
export type Sample =
  | string
  | Buffer
  | { readonly content: string | Buffer; readonly mode: number }
  | SnapshotNode
  | null;

/** A draft of these paths; directories above files are added where there is no base. */
export function draftOf(samples: Readonly<Record<string, Sample>>, base?: ContentHash): SnapshotDraft {
  const contents = new Map<string, { readonly bytes: Buffer; readonly mode: number }>();
  const edits = new Map<string, DraftEdit>();
  const put = (path: string, node: DraftEdit['node']) => edits.set(path, { path: path as RelPath, node });
  for (const [path, sample] of Object.entries(samples)) {
    if (base === undefined) {
      for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
        const parent = path.slice(0, at);
        if (!edits.has(parent))
          put(parent, { kind: 'directory', mode: 0o755, mtimeNs: 1n, listing: 'complete' });
      }
    }
    if (sample === null) put(path, undefined);
    else if (typeof sample === 'object' && 'kind' in sample) put(path, sample);
    else {
      const { content, mode } =
        typeof sample === 'string' || Buffer.isBuffer(sample) ? { content: sample, mode: 0o644 } : sample;
      const bytes = Buffer.from(content as string);
      contents.set(path, { bytes, mode });
      put(path, { kind: 'pending', statedSize: bytes.length });
    }
  }
  return {
    base,
    edits: [...edits.values()].sort((a, b) => (a.path < b.path ? -1 : 1)),
    rules: RULES,
    truncated: false,
    read: (path): FileReading => {
      const found = contents.get(path);
      if (found === undefined) return { ok: false, node: undefined };
      return {
        ok: true,
        size: found.bytes.length,
        mtimeNs: 1_700_000_000_123_456_789n,
        mode: found.mode,
        content: found.bytes,
      };
    },
  };
}

export interface ShadowPlace {
  readonly directory: string;
  readonly options: ShadowGitOptions;
  readonly store: SnapshotStore;
  readonly git: Git;
  readonly gitDir: string;
  readonly warnings: string[];
  readonly identity: WorkspaceIdentity;
  /** Another store object on the same repository, as another process would have. */
  reopen(changes?: Partial<ShadowGitOptions>): SnapshotStore;
  /** Writes and publishes. */
  capture(
    samples: Readonly<Record<string, Sample>>,
    options?: {
      readonly base?: ContentHash;
      readonly reason?: string;
      readonly source?: string;
      readonly store?: SnapshotStore;
    },
  ): Promise<Captured>;
  /** Closes every store that was opened here. */
  close(): Promise<void>;
  /** Plain git on the shadow repository, as a person would run it. */
  plain(...args: readonly string[]): Promise<string>;
}

export interface Captured {
  readonly record: CheckpointRecord;
  readonly written: WrittenSnapshot;
  readonly published: PublishedCheckpoint;
  /** for `retract`, `manifest` and `setPinned` */
  readonly where: {
    readonly id: CheckpointId;
    readonly sessionId: SessionId;
    readonly seq: number;
    readonly sandboxRef: string;
  };
}

/** A home and a workspace in the directory. Without vitest, so that scripts of the tests can use it. */
export function placeAt(
  directory: string,
  changes: Partial<ShadowGitOptions> = {},
  environment: Readonly<Record<string, string | undefined>> = { PATH: process.env['PATH'] },
  hook?: StepHook,
): ShadowPlace {
  const layout = homeLayout(join(directory, 'home'));
  const fs = createFileSystem(hook);
  const git = createGit(environment);
  const workspace = join(directory, 'workspace');
  const dirHash = createHash('sha256').update(workspace).digest('hex').slice(0, 16) as DirHash;
  const identity = { path: workspace, dirHash, projectHash: dirHash, inode: '1', birthtimeNs: undefined };
  const warnings: string[] = [];
  const options: ShadowGitOptions = {
    layout,
    fs,
    git,
    identity,
    locks: createLocks(layout.locks, fs),
    clock: systemClock,
    onWarning: (message) => warnings.push(message),
    ...changes,
  };
  mkdirSync(workspace, { recursive: true });
  const opened: SnapshotStore[] = [];
  const reopen = (more: Partial<ShadowGitOptions> = {}): SnapshotStore => {
    const store = openShadowGitStore({ ...options, ...more });
    opened.push(store);
    return store;
  };
  const ids = createIds(options.clock);
  const gitDir = join(layout.projects, dirHash, 'checkpoints', dirHash);
  const store = reopen();
  let seq = 0;
  return {
    directory,
    options,
    store,
    git,
    gitDir,
    warnings,
    identity,
    reopen,
    async capture(samples, { base, reason = 'manual', source = 'test', store: target = store } = {}) {
      const written = await target.write(draftOf(samples, base));
      const record: CheckpointRecord = {
        id: ids.ulid() as CheckpointId,
        sessionId: `s-${process.pid}` as SessionId,
        seq: seq++,
        workspace: identity,
        type: 'manual',
        createdAt: new Date(options.clock.now()).toISOString(),
        metadata: { reason, source },
        label: null,
        runId: null,
        planId: null,
        decisionId: null,
        resourceId: null,
        engine: 'git',
        git: null,
        snapshot: written.ref,
        coverage: coverageOf(Object.keys(samples).length, []),
        sizeBytes: 0,
      };
      const published = await target.publish(record);
      const { id, sessionId } = record;
      return {
        record,
        written,
        published,
        where: { id, sessionId, seq: record.seq, sandboxRef: published.sandboxRef },
      };
    },
    async close() {
      for (const store of opened) await store.close();
    },
    async plain(...args) {
      const { stdout } = await git.run({ args, gitDir, cwd: directory });
      return stdout.toString();
    },
  };
}

/** All of a view, with the content of files as text. */
export async function contentsOf(store: SnapshotStore, view: SnapshotView): Promise<Record<string, string>> {
  const contents: Record<string, string> = {};
  for (const [path, node] of view.nodes()) {
    if (node.kind === 'file') contents[path] = (await store.readBlob(node.hash)).toString();
  }
  return contents;
}
