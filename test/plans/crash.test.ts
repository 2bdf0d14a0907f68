import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Decision } from '../../src/domain/decision.ts';
import { isWaymarkError } from '../../src/domain/errors.ts';
import type { PlanTree } from '../../src/plans/plan-tree.ts';
import { bundleScript } from '../support/bundle-script.ts';
import { type PlanScene, planScene } from '../support/plan-scene.ts';
import { isSoak } from '../support/scale.ts';

let program: Awaited<ReturnType<typeof bundleScript>>;
beforeAll(async () => {
  program = await bundleScript(join(import.meta.dirname, '../support/plan-crash.ts'));
});
afterAll(() => program[Symbol.dispose]());

/** Every step leaves a line outside of the sandbox, which no rollback takes back, and appends to a file in it, which one must. */
function step(scene: PlanScene, name: string) {
  return {
    title: name,
    tool: 'shell',
    command: `echo ${name} >> ${scene.outside}/log; echo ${name} >> trace`,
  };
}

async function prepared(): Promise<{ readonly base: string; readonly file: string }> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-crash-')));
  await using scene = await planScene({ base });
  const file = scene.planFile({
    name: 'crash',
    steps: [
      step(scene, 'one'),
      { subplan: { name: 'inner', steps: [step(scene, 'two'), step(scene, 'three')] } },
      {
        parallel: ['four', 'five'].map((name) => ({
          name,
          steps: [{ ...step(scene, name), command: `echo ${name} >> ${scene.outside}/log; echo > ${name}` }],
        })),
      },
      step(scene, 'six'),
    ],
  });
  return { base, file };
}

async function runAndDie(
  base: string,
  file: string,
  kind: 'event' | 'call',
  number: number,
  rollback: readonly string[] = [],
): Promise<boolean> {
  const child = spawn(process.execPath, [program.path, base, file, kind, String(number), ...rollback], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [status, signal] = await once(child, 'exit');
  if (signal !== 'SIGKILL') expect(status).toBe(0);
  return signal === 'SIGKILL';
}

/** A process that was killed may stay as a zombie where nobody waits for it. */
function isRunning(pid: string): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', pid], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.startsWith('Z');
}

function decisionsOf(tree: PlanTree): readonly Decision[] {
  const walk = (nodes: PlanTree['decisions']): readonly Decision[] =>
    nodes.flatMap(({ decision, children, plans }) => [
      decision,
      ...walk(children),
      ...plans.flatMap(decisionsOf),
    ]);
  return walk(tree.decisions);
}

/** Goes on after a kill as a person would: recovers what a restore left half done, resumes. */
async function goOn(scene: PlanScene, id: string) {
  for (let round = 0; round < 3; round += 1) {
    try {
      return await scene.plans.resume(id, { mayRepeat: async () => true });
    } catch (error) {
      if (!isWaymarkError(error, 'RESTORE_INTERRUPTED')) throw error;
      await (await scene.workspace()).recover('continue');
    }
  }
  throw new Error('not resumable');
}

async function checkAfterKill(base: string): Promise<void> {
  await using scene = await planScene({ base });
  const [plan] = scene.plans.list();
  if (plan === undefined) return;
  const complete = decisionsOf(scene.plans.tree(plan.id)).filter(
    ({ state, kind }) => state === 'complete' && kind === 'shell',
  );
  const done = await goOn(scene, plan.id);
  expect(done).toMatchObject({ state: 'complete', error: null });
  const log = readFileSync(join(scene.outside, 'log'), 'utf8').trim().split('\n');
  for (const { title } of complete)
    expect([title, log.filter((line) => line === title).length]).toEqual([title, 1]);
  const live = decisionsOf(scene.plans.tree(plan.id)).filter(({ mark }) => mark === null);
  for (const { id } of complete) expect(live.map((one) => one.id)).toContain(id);
  expect(readFileSync(join(scene.root, 'trace'), 'utf8').trim().split('\n')).toEqual([
    'one',
    'two',
    'three',
    'six',
  ]);
  for (const name of ['four', 'five']) expect(existsSync(join(scene.root, name))).toBe(true);
  await checkCheckpoints(scene, scene.plans.tree(plan.id));
}

/** No checkpoint dangles: each is of a decision that there is, each that a decision names is there, and all can be restored. */
async function checkCheckpoints(scene: PlanScene, tree: PlanTree): Promise<void> {
  const decisions = decisionsOf(tree);
  const listed = await scene.waymark.listCheckpoints({ everywhere: true });
  const ids = new Set<string>(listed.map(({ id }) => id));
  const known = new Set<string | null>([null, ...decisions.map(({ id }) => id)]);
  for (const { decisionId } of listed) expect(known).toContain(decisionId);
  for (const { checkpointBefore, checkpointAfter } of decisions)
    for (const id of [checkpointBefore, checkpointAfter]) if (id !== null) expect(ids).toContain(id);
  expect((await scene.waymark.doctor()).problems).toEqual([]);
  expect(await (await scene.workspace()).verify()).toMatchObject({ problems: [] });
}

describe('plan resume after kill -9', () => {
  /** A run has fewer than 80 events; what lies behind the last kills nobody. */
  const EVENTS = isSoak
    ? Array.from({ length: 80 }, (_, at) => at)
    : [0, 3, 6, 7, 12, 17, 22, 27, 32, 37, 43, 50, 58, 66];

  test.concurrent.each(EVENTS)(
    'at event %i: no complete step runs twice, no started one is left half done',
    async (number) => {
      const { base, file } = await prepared();
      try {
        await runAndDie(base, file, 'event', number);
        await checkAfterKill(base);
      } finally {
        rmSync(base, { recursive: true, force: true });
      }
    },
  );

  test.concurrent.each([150, 300, 450, 580])('before the %ith change of the disk', async (number) => {
    const { base, file } = await prepared();
    try {
      await runAndDie(base, file, 'call', number);
      await checkAfterKill(base);
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  });

  test('ends what the step had started before it runs again', async () => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-crash-')));
    try {
      const file = await (async () => {
        await using scene = await planScene({ base });
        return scene.planFile({
          steps: [
            {
              tool: 'shell',
              command: `test -e ${scene.outside}/again && exit 0; sleep 600 & echo $! > pid; kill -9 $PPID; wait`,
            },
          ],
        });
      })();
      expect(await runAndDie(base, file, 'event', 9999)).toBe(true);
      await using scene = await planScene({ base });
      const pid = readFileSync(join(scene.root, 'pid'), 'utf8').trim();
      scene.put({ '../outside/again': '' });
      const [plan] = scene.plans.list();
      expect(await scene.plans.resume(plan?.id ?? '')).toMatchObject({ state: 'complete' });
      expect(existsSync(join(scene.root, 'pid'))).toBe(false);
      expect(isRunning(pid)).toBe(false);
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  });
});

describe('plan rollback after kill -9', () => {
  const KILLS = [
    [1, 'continue'],
    [20, 'abort'],
    [25, 'continue'],
    [25, 'abort'],
    [29, 'abort'],
    [30, 'continue'],
    [30, 'abort'],
    [32, 'abort'],
  ] as const;

  test.concurrent.each(KILLS)(
    'before change %i of the disk, recovered with %s: files and decisions agree',
    async (number, mode) => {
      const base = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-crash-')));
      try {
        let names: readonly string[] = [];
        await (async () => {
          await using scene = await planScene({ base });
          const steps = ['one', 'two', 'three'].map((path) => ({ tool: 'write_file', path, content: path }));
          const plan = await scene.plans.run({ file: scene.planFile({ steps }), workspace: scene.root });
          const list = await scene.plans.checkpoints.listCheckpoints({ planId: plan.id });
          const second = scene.plans.tree(plan.id).decisions[1]?.decision.id;
          names = [
            plan.id,
            list.find((one) => one.decisionId === second && one.checkpointType === 'pre_write')
              ?.checkpointId ?? '',
          ];
        })();
        await runAndDie(base, '', 'call', number, names);
        await using scene = await planScene({ base });
        const [plan = ''] = names;
        const workspace = await scene.workspace();
        await workspace.recover(mode).catch((error: unknown) => {
          if (!isWaymarkError(error, 'NOTHING_TO_UNDO')) throw error;
        });
        // Any work on the plan settles what was left; this one does nothing else.
        await scene.plans.apply(plan, { dryRun: true }).catch((error: unknown) => {
          if (!isWaymarkError(error, 'BUSINESS_RULE_VIOLATION')) throw error;
        });
        const taken = scene.plans.tree(plan).decisions.map(({ decision }) => decision.mark);
        const present = ['one', 'two', 'three'].map((name) => existsSync(join(scene.root, name)));
        expect(taken).toEqual(present.map((there) => (there ? null : 'rolled_back')));
        expect(scene.plans.find(plan).state).toBe(present[2] ? 'complete' : 'queued');
        expect(await scene.plans.resume(plan)).toMatchObject({ state: 'complete' });
      } finally {
        rmSync(base, { recursive: true, force: true });
      }
    },
  );
});
