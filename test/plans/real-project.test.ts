import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { PlanId } from '../../src/domain/ids.ts';
import type { PlanTree } from '../../src/plans/plan-tree.ts';
import { type PlanScene, planScene } from '../support/plan-scene.ts';

const PACKAGE = join(import.meta.dirname, '../../node_modules/abbrev');

/** Installs a package as npm does and gives the directory that it is in. */
function install(base: string): string {
  const project = join(base, 'project');
  const quiet = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier'];
  execFileSync('npm', ['install', '--prefix', project, '--install-links', ...quiet, PACKAGE], {
    stdio: 'pipe',
  });
  return join(project, 'node_modules', 'abbrev');
}

/** Every file of a directory with its text, but for the repository and Waymark's own. */
function filesOf(directory: string): ReadonlyMap<string, string> {
  const paths = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => !/^(\.git|\.waymark)(\/|$)/.test(path))
    .filter((path) => statSync(join(directory, path)).isFile());
  return new Map(paths.sort().map((path) => [path, readFileSync(join(directory, path), 'latin1')]));
}

/** An agent that breaks the package unless it is told how not to. */
const AGENT = [
  'case "$(cat)" in',
  '*"Keep the exports"*) echo "// Empty words are skipped." >> abbrev.js ;;',
  '*) sed -i.bak "s/^module.exports/module.export/" abbrev.js && rm abbrev.js.bak ;;',
  'esac',
].join('\n');

const SEARCH = `  for (var i = 0, l = list.length, args = [] ; i < l ; i ++) {
    args[i] = typeof list[i] === "string" ? list[i] : String(list[i])
  }
`;
const REPLACE = `  var args = []
  for (var i = 0, l = list.length ; i < l ; i ++) {
    var word = typeof list[i] === "string" ? list[i] : String(list[i])
    if (word !== "") args.push(word)
  }
`;
const CHANGES = '# 1.0.8\n\nEmpty words are skipped.\n';
const NEW_TEST = `require('assert').deepEqual(require('./abbrev.js')(['', 'a']), { a: 'a' })\n`;

const STEPS = [
  { tool: 'edit_file', path: 'abbrev.js', search: SEARCH, replace: REPLACE },
  { tool: 'shell', command: 'node test.js' },
  { tool: 'write_file', path: 'CHANGES.md', content: CHANGES },
  {
    parallel: [
      {
        name: 'docs',
        steps: [{ tool: 'shell', command: 'printf "\\nEmpty words are skipped.\\n" >> README.md' }],
      },
      { name: 'tests', steps: [{ tool: 'write_file', path: 'test-empty.js', content: NEW_TEST }] },
    ],
  },
  { tool: 'agent', prompt: 'Say in a comment what changed' },
  { tool: 'shell', command: 'node test.js && node test-empty.js' },
];

/** The decisions of a plan's own steps: position, state, mark. */
const decisionsOf = ({ decisions }: PlanTree) =>
  decisions.map(({ decision }) => [decision.step, decision.state, decision.mark]);

/** The checkpoints of a plan in their order, with the steps that they belong to; `3.1` is the second lane of step 3. */
async function checkpointsOf(scene: PlanScene, planId: PlanId): Promise<readonly string[]> {
  const nodes = scene.plans.tree(planId).decisions;
  const steps = new Map(
    nodes
      .flatMap((node) => [node, ...node.children])
      .map(({ decision: { id, step, lane } }) => [
        id as string,
        lane === null ? `${step}` : `${step}.${lane}`,
      ]),
  );
  const list = await scene.plans.checkpoints.listCheckpoints({ planId });
  return list
    .toReversed()
    .map(({ checkpointType, decisionId }) =>
      decisionId === null ? checkpointType : `${checkpointType} ${steps.get(decisionId)}`,
    );
}

const around = (...steps: readonly number[]) => steps.flatMap((n) => [`pre_write ${n}`, `post_step ${n}`]);
const GROUP = ['pre_subplan 3.0', 'pre_subplan 3.1'];

test.each(['git_worktree', 'filesystem_copy'] as const)(
  'a plan on an installed package in a %s: broken at a step, rolled back, corrected, resumed, applied',
  async (sandbox) => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-project-')));
    onTestFinished(() => rmSync(base, { recursive: true, force: true }));
    await using scene = await planScene({
      base,
      toml: `[agents]\ndefault = ${JSON.stringify(['sh', '-c', AGENT])}\n`,
    });
    cpSync(install(base), scene.root, { recursive: true });
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], { cwd: scene.root });
    git('init', '-q');
    git('add', '-A');
    git('commit', '-qm', 'installed');
    const original = filesOf(scene.root);
    const edited = (original.get('abbrev.js') ?? '').replace(SEARCH, REPLACE);
    expect(edited).not.toBe(original.get('abbrev.js'));
    const upToChanges = new Map([...original, ['abbrev.js', edited], ['CHANGES.md', CHANGES]]);
    const upToGroup = new Map([
      ...upToChanges,
      ['README.md', `${original.get('README.md')}\nEmpty words are skipped.\n`],
      ['test-empty.js', NEW_TEST],
    ]);
    const broken = new Map([
      ...upToGroup,
      ['abbrev.js', edited.replace(/^module.exports/m, 'module.export')],
    ]);
    const whole = new Map([...upToGroup, ['abbrev.js', `${edited}// Empty words are skipped.\n`]]);

    // Broken at step 5: the agent did its part without an error, and the tests say no.
    const file = scene.planFile({ name: 'empty words', sandbox, steps: STEPS });
    const plan = await scene.plans.run({ file, workspace: scene.root });
    const { id } = plan;
    const inSandbox = () => filesOf(plan.sandbox.path);
    expect(plan).toMatchObject({
      phase: 'execute',
      state: 'errored',
      error: { code: 'COMMAND_FAILED', message: expect.stringContaining('Step 6') },
      sandbox: { strategy: sandbox },
    });
    const done = (...steps: readonly number[]) => steps.map((step) => [step, 'complete', null]);
    expect(decisionsOf(scene.plans.tree(id))).toEqual([...done(0, 1, 2, 3, 4), [5, 'errored', null]]);
    const first = ['run_start', ...around(0, 1, 2), ...GROUP, ...around(4, 5), 'on_error'];
    expect(await checkpointsOf(scene, id)).toEqual(first);
    for (const { plans } of scene.plans.tree(id).decisions[3]?.children ?? [])
      expect(await checkpointsOf(scene, plans[0]?.plan.id as PlanId)).toEqual(around(0));
    expect(inSandbox()).toEqual(new Map([...broken].sort()));
    expect(filesOf(scene.root)).toEqual(original);

    // Rolled back to after step 2.
    const target = (await scene.plans.checkpoints.listCheckpoints({ planId: id })).find(
      ({ decisionId, checkpointType }) =>
        checkpointType === 'post_step' && decisionId === scene.plans.tree(id).decisions[2]?.decision.id,
    );
    const rollback = await scene.plans.rollback({ plan: id, checkpoint: target?.checkpointId ?? '' });
    expect(rollback.changesReverted).toEqual(['README.md', 'abbrev.js', 'test-empty.js']);
    expect(inSandbox()).toEqual(new Map([...upToChanges].sort()));
    expect(scene.plans.find(id)).toMatchObject({ phase: 'execute', state: 'queued' });
    const taken = [
      [3, 'complete', 'rolled_back'],
      [4, 'complete', 'rolled_back'],
      [5, 'errored', 'rolled_back'],
    ];
    expect(decisionsOf(scene.plans.tree(id))).toEqual([...done(0, 1, 2), ...taken]);

    // Resumed: the group runs again, and the agent breaks it again.
    expect(await scene.plans.resume(id)).toMatchObject({ state: 'errored' });
    expect(inSandbox()).toEqual(new Map([...broken].sort()));
    const second = [...first, 'run_start', ...GROUP, ...around(4, 5), 'on_error'];
    expect(await checkpointsOf(scene, id)).toEqual(second);

    // Corrected: exactly from the agent on.
    const agent = scene.plans
      .tree(id)
      .decisions.find(({ decision: { step, mark } }) => step === 4 && mark === null);
    const correction = await scene.plans.correct({
      decision: agent?.decision.id ?? '',
      mode: 'revert',
      guidance: 'Keep the exports',
    });
    expect(correction.plan).toMatchObject({ phase: 'execute', state: 'complete', error: null });
    expect(correction.correction).toMatchObject({ state: 'complete', mode: 'revert' });
    expect(correction.superseded.map(({ step }) => step)).toEqual([4, 5]);
    expect(decisionsOf(scene.plans.tree(id))).toEqual([
      ...done(0, 1, 2),
      ...taken,
      ...done(3),
      [4, 'complete', 'superseded'],
      [5, 'errored', 'superseded'],
      ...done(4, 5),
    ]);
    expect(await checkpointsOf(scene, id)).toEqual([...second, 'run_start', ...around(4, 5)]);
    expect(inSandbox()).toEqual(new Map([...whole].sort()));
    expect(filesOf(scene.root)).toEqual(original);

    // Applied.
    const applied = await scene.plans.apply(id);
    expect(applied).toMatchObject({ plan: { phase: 'apply', state: 'applied' }, result: { skipped: [] } });
    expect(filesOf(scene.root)).toEqual(new Map([...whole].sort()));
    expect(String(git('status', '--porcelain'))).toBe(
      ' M README.md\n M abbrev.js\n?? CHANGES.md\n?? test-empty.js\n',
    );
    await expect(
      scene.plans.rollback({ plan: id, checkpoint: target?.checkpointId ?? '' }),
    ).rejects.toMatchObject({
      code: 'BUSINESS_RULE_VIOLATION',
    });
  },
);
