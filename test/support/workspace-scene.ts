import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { ContentHash } from '../../src/domain/ids.ts';
import { comparePaths, encodeName, type RelPath, toFsPath } from '../../src/domain/rel-path.ts';
import { DEFAULT_LIMITS, type FrozenRules, type Limits } from '../../src/domain/rules.ts';
import type { SnapshotNode } from '../../src/domain/snapshot.ts';
import { createGit } from '../../src/platform/git-process.ts';
import { hashPending } from '../../src/workspace/hash-pending.ts';
import type { Observation, ScopeSource } from '../../src/workspace/observation.ts';
import { type ObserveInput, observeWorkspace } from '../../src/workspace/observe.ts';
import type { StatCache } from '../../src/workspace/stat-cache.ts';

export type Observed = Observation & { readonly kind: 'observed' };
export type Nodes = ReadonlyMap<string, SnapshotNode>;

const environment = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'Tester',
  GIT_AUTHOR_EMAIL: 'tester@example.org',
  GIT_COMMITTER_NAME: 'Tester',
  GIT_COMMITTER_EMAIL: 'tester@example.org',
};

/** A workspace in a directory of its own that is captured again and again, with the snapshot that the drafts add up to. */
export class WorkspaceScene {
  readonly directory: string;
  readonly root: string;
  readonly git = createGit(environment);
  /** the snapshot the last capture made */
  nodes: Map<string, SnapshotNode> = new Map();
  cache: StatCache | undefined;
  #captures = 0;

  constructor(below = 'workspace') {
    this.directory = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-scene-')));
    onTestFinished(() => rmSync(this.directory, { recursive: true, force: true }));
    this.root = join(this.directory, below);
    mkdirSync(this.root, { recursive: true });
  }

  path(path: string): string | Buffer {
    return toFsPath(`${this.root}/${path}`);
  }

  write(path: string, content: string | Buffer = path, mode?: number): void {
    mkdirSync(toFsPath(dirname(`${this.root}/${path}`)), { recursive: true });
    writeFileSync(this.path(path), content);
    if (mode !== undefined) chmodSync(this.path(path), mode);
  }

  mkdir(path: string): void {
    mkdirSync(this.path(path), { recursive: true });
  }

  link(path: string, target: string): void {
    mkdirSync(toFsPath(dirname(`${this.root}/${path}`)), { recursive: true });
    symlinkSync(encodeName(target), this.path(path));
  }

  remove(path: string): void {
    rmSync(this.path(path), { recursive: true });
  }

  touch(path: string, seconds: number): void {
    lutimesSync(this.path(path), seconds, seconds);
  }

  runGit(...args: readonly string[]): string {
    return this.runGitIn('', ...args);
  }

  runGitIn(path: string, ...args: readonly string[]): string {
    return execFileSync('git', args, {
      cwd: join(this.root, path),
      env: environment,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  }

  live(
    extra: Partial<Omit<ScopeSource & { readonly kind: 'live' }, 'limits'>> & {
      readonly limits?: Partial<Limits>;
    } = {},
  ): ScopeSource {
    return {
      kind: 'live',
      include: [],
      exclude: [],
      forbidden: [],
      selection: [],
      ...extra,
      limits: { ...DEFAULT_LIMITS, ...extra.limits },
    };
  }

  async observe(input: Partial<ObserveInput> = {}): Promise<Observed> {
    const observation = await observeWorkspace({
      root: this.root,
      scope: this.live(),
      cache: this.cache,
      git: this.git,
      ...input,
    });
    if (observation.kind !== 'observed') throw new Error(`too many files: ${observation.files}`);
    return observation;
  }

  /** Observes, reads what is pending and makes the result the next base. */
  async capture(input: Partial<ObserveInput> = {}): Promise<Observed> {
    const observation = await this.observe(input);
    const read = await hashPending(observation);
    if (observation.draft.base === undefined) this.nodes = new Map();
    applyDraft(this.nodes, observation, read);
    this.#captures += 1;
    const root =
      observation.unchanged && this.cache
        ? this.cache.root
        : (this.#captures.toString(16).padStart(64, '0') as ContentHash);
    this.cache = observation.next({ root, read });
    return observation;
  }

  /** What a capture that knows nothing sees. */
  async fresh(
    input: Partial<ObserveInput> = {},
  ): Promise<{ readonly nodes: Nodes; readonly rules: FrozenRules }> {
    const observation = await this.observe({ ...input, cache: undefined });
    const nodes = new Map<string, SnapshotNode>();
    applyDraft(nodes, observation, await hashPending(observation));
    return { nodes, rules: observation.draft.rules };
  }

  /** Lets the tick of the last change pass, so that the next capture's entries can be trusted. */
  async settle(): Promise<void> {
    await setTimeout(40);
  }
}

export function applyDraft(
  nodes: Map<string, SnapshotNode>,
  observation: Observed,
  read: ReadonlyMap<RelPath, SnapshotNode | undefined>,
): void {
  for (const { path, node } of observation.draft.edits) {
    const final = node?.kind === 'pending' ? read.get(path) : node;
    if (final === undefined) nodes.delete(path);
    else nodes.set(path, final);
  }
}

/** Nodes as sorted lines, for comparison. */
export function describeNodes(nodes: Nodes): readonly string[] {
  return [...nodes]
    .sort(([a], [b]) => comparePaths(a, b))
    .map(([path, node]) => `${JSON.stringify(path)} ${describeNode(node)}`);
}

function describeNode(node: SnapshotNode): string {
  return JSON.stringify(node, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
}

/** `path: kind` or `path: reason`, sorted. */
export function outline(nodes: Nodes): readonly string[] {
  return [...nodes]
    .sort(([a], [b]) => comparePaths(a, b))
    .map(([path, node]) => `${path}: ${node.kind === 'observed' ? node.reason : node.kind}`);
}
