import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createPlanRepository } from '../../catalog/plans/sqlite-plan-repository.ts';
import { openCatalogDatabase } from '../../catalog/sqlite/catalog-database.ts';
import type { CheckpointId, DirHash, PlanId } from '../../domain/ids.ts';
import { systemClock } from '../../platform/clock.ts';
import { createIds } from '../../platform/ids.ts';
import { createFileSystem } from '../../platform/node-file-system.ts';
import type { CheckpointService, CreateCheckpointRequest } from '../checkpoints/checkpoint-service.ts';
import type { PlanDocument, Step } from '../document/plan-document.ts';
import { newPlan } from '../records/new-records.ts';
import { createPlanLog } from '../records/plan-log.ts';
import { filesystemCopy } from '../sandbox/filesystem-copy.ts';
import { inPlace } from '../sandbox/in-place.ts';
import { PlanSandboxes } from '../sandbox/plan-sandboxes.ts';
import { PlanExecutor } from './plan-executor.ts';
import { SubplanExecutionService } from './subplan-execution-service.ts';
import { ToolRunner } from './tool-runner.ts';

let base: string;
let root: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-executor-')));
  root = join(base, 'ws');
  mkdirSync(root);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const common = { retry: 0, continueOnError: false } as const;
const write = (path: string): Step => ({ ...common, tool: 'write_file', path, content: path });
const plain = (name: string, ...steps: readonly Step[]): PlanDocument => ({ name, guidance: [], steps });

/** Puts the three parts together, with a checkpoint service or without one. */
function parts(checkpointService?: CheckpointService) {
  const fs = createFileSystem();
  const database = openCatalogDatabase(join(base, 'home', 'catalog.db'), fs);
  const clock = systemClock;
  const ids = createIds(clock);
  const repository = createPlanRepository(database, clock);
  const log = createPlanLog(repository, clock);
  const autoCreateOn = ['on_tool_write', 'on_tool_write_complete', 'on_subplan_spawn', 'on_error'] as const;
  const shared = {
    repository,
    log,
    clock,
    ids,
    autoCreateOn,
    ...(checkpointService ? { checkpointService } : {}),
  };
  const strategies = {
    none: inPlace,
    filesystem_copy: filesystemCopy(fs, []),
    git_worktree: { ...inPlace, name: 'git_worktree' as const },
  };
  const sandboxes = new PlanSandboxes({ repository, log, strategies });
  const toolRunner = new ToolRunner({ ...shared, fs, agents: {} });
  const subplans = new SubplanExecutionService({ ...shared, sandboxes });
  const executor = new PlanExecutor({ ...shared, toolRunner, subplans });
  const execute = async (document: PlanDocument) => {
    const plan = newPlan({ clock, ids }, document, {
      parentId: null,
      parentDecisionId: null,
      workspace: root,
      dirHash: '0123456789abcdef' as DirHash,
      sessionId: null,
      runId: null,
      sandbox: { strategy: 'none', path: root, owner: 'own', state: 'ready', branch: null, base: null },
    });
    repository.addPlan(plan);
    const signal = new AbortController().signal;
    return executor.execute(plan, { root, inWave: false, guidance: [], environment: process.env, signal });
  };
  return { repository, execute, [Symbol.dispose]: () => database[Symbol.dispose]() };
}

const document = plain(
  'all',
  write('a'),
  { ...common, subplan: plain('inner', write('b')), sandbox: 'shared' },
  { ...common, parallel: [plain('x', write('c')), plain('y', write('d'))], sandbox: 'shared' },
);

describe('PlanExecutor, ToolRunner and SubplanExecutionService', () => {
  test('work without a checkpoint service and take no checkpoints', async () => {
    using made = parts();
    const plan = await made.execute(document);
    expect(plan).toMatchObject({ state: 'complete', error: null });
    expect(['a', 'b', 'c', 'd'].map((name) => readFileSync(join(root, name), 'utf8'))).toEqual([
      'a',
      'b',
      'c',
      'd',
    ]);
    const kinds = made.repository.events(plan.id).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind.startsWith('checkpoint'))).toEqual([]);
  });

  test('say that a subplan cannot have a sandbox of its own where nothing brings its result back', async () => {
    using made = parts();
    const plan = await made.execute(
      plain('p', { ...common, subplan: plain('inner', write('b')), sandbox: 'filesystem_copy' }),
    );
    expect(plan).toMatchObject({ state: 'errored', error: { code: 'UNSUPPORTED' } });
    expect(existsSync(join(root, 'b'))).toBe(false);
  });

  test('ask for checkpoints in order, and go on where none can be taken', async () => {
    const asked: CreateCheckpointRequest[] = [];
    using made = parts({
      async createCheckpoint(request) {
        asked.push(request);
        if (request.checkpointType === 'post_step') throw new Error('no');
        return { checkpointId: `C${asked.length}` as CheckpointId } as Awaited<
          ReturnType<CheckpointService['createCheckpoint']>
        >;
      },
      listCheckpoints: async () => [],
      rollbackToCheckpoint: async () => {
        throw new Error('not asked for');
      },
    });
    const plan = await made.execute(document);
    expect(plan.state).toBe('complete');
    expect(asked.map(({ checkpointType }) => checkpointType)).toEqual([
      'pre_write',
      'post_step',
      'pre_subplan',
      'pre_write',
      'post_step',
      'pre_subplan',
      'pre_subplan',
    ]);
    const [first] = made.repository.decisions(plan.id);
    expect(first).toMatchObject({ checkpointBefore: 'C1', checkpointAfter: null, state: 'complete' });
    const missed = made.repository.events(plan.id).filter(({ kind }) => kind === 'checkpoint_failed');
    expect(missed).toMatchObject([{ decisionId: first?.id, data: { reason: 'INTERNAL', message: 'no' } }]);
    const lanes = made.repository
      .plans({ parentId: plan.id as PlanId })
      .filter(({ name }) => name !== 'inner');
    expect(
      lanes
        .flatMap(({ id }) => made.repository.events(id))
        .filter(({ kind }) => kind === 'checkpoint_skipped'),
    ).toHaveLength(4);
  });
});
