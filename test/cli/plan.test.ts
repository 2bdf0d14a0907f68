import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { BIN, type CliSandbox, cliSandbox } from '../support/cli-sandbox.ts';

const PLAN = `
name: demo
steps:
  - { tool: write_file, path: a.txt, content: "one\\n" }
  - { tool: edit_file, path: a.txt, search: one, replace: two }
  - { tool: shell, command: "cat a.txt > b.txt; echo said" }
`;

function planIn(place: CliSandbox, text = PLAN, name = '../plan.yaml'): string {
  place.write(name, text);
  return join(place.work, name);
}

/** As a regular expression. */
const DIM = '\u001b\\[2m';
const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

interface ListedCheckpoint {
  readonly checkpoint_id: string;
  readonly checkpoint_type: string;
  readonly decision_id: string | null;
}

describe('waymark plan', () => {
  test('runs a plan, lists its checkpoints and rolls it back with the envelope of the seed', async () => {
    const place = cliSandbox();
    const plan = await place.json(['plan', 'run', '--quiet', planIn(place)]);
    expect(plan).toMatchObject({ name: 'demo', phase: 'execute', state: 'complete', error: null });
    expect(place.read('b.txt')).toBe('two\n');
    const checkpoints: readonly ListedCheckpoint[] = await place.json([
      'plan',
      'checkpoint',
      'list',
      plan.plan_id,
    ]);
    expect(checkpoints[0]).toMatchObject({
      checkpoint_id: expect.stringMatching(ULID),
      plan_id: plan.plan_id,
      checkpoint_type: 'post_step',
      decision_id: expect.any(String),
      sandbox_ref: expect.stringMatching(/^cas:/),
      resource_id: null,
      filesystem_path: expect.any(String),
      size_bytes: expect.any(Number),
      created_at: expect.stringMatching(/Z$/),
      metadata: { reason: 'post-step', source_tool: 'shell', phase: 'execute', extra: { succeeded: true } },
    });
    const target =
      checkpoints.filter(({ checkpoint_type: type }) => type === 'pre_write')[1]?.checkpoint_id ?? '';

    expect((await place.run(['plan', 'rollback', plan.plan_id, target])).status).toBe(4);
    const rolled = await place.json(['plan', 'rollback', '--yes', plan.plan_id, target]);
    expect(rolled).toEqual({
      rollback_summary: {
        plan_id: plan.plan_id,
        from_checkpoint_id: target,
        restored_files_count: 2,
        safety_checkpoint_id: expect.any(String),
      },
      changes_reverted: ['a.txt', 'b.txt'],
      changes: [
        { path: 'a.txt', action: 'modify' },
        { path: 'b.txt', action: 'delete' },
      ],
      skipped: [],
      impact: { files_affected: 2 },
      post_rollback_state: { active_checkpoint: target, plan_id: plan.plan_id },
      timing: { elapsed_seconds: expect.any(Number) },
      messages: ['Rollback completed successfully.'],
    });
    expect(place.tree()).toEqual(['a.txt']);
    expect(await place.json(['plan', 'status', plan.plan_id])).toMatchObject({
      phase: 'execute',
      state: 'queued',
      decisions: { complete: 1 },
      checkpoints: { missed: [] },
    });
    expect(await place.json(['plan', 'run', '--quiet', '--resume', plan.plan_id])).toMatchObject({
      state: 'complete',
    });
    expect(place.read('b.txt')).toBe('two\n');
  });

  test('guards and errors have the words of the seed, their codes and statuses', async () => {
    const place = cliSandbox();
    const { plan_id: plan } = await place.json(['plan', 'run', '--quiet', planIn(place)]);
    const { plan_id: other } = await place.json(['plan', 'run', '--quiet', planIn(place)]);
    const [own] = await place.json(['plan', 'checkpoint', 'list', plan]);
    const [foreign] = await place.json(['plan', 'checkpoint', 'list', other]);
    const fails = async (args: readonly string[], status: number) => {
      const { error } = await place.json(args, { status });
      return [error.code, error.message];
    };
    const rollback = (...args: readonly string[]) => ['plan', 'rollback', '-y', ...args];
    expect(await fails(rollback(plan, 'no-such-thing'), 3)).toEqual([
      'CHECKPOINT_NOT_FOUND',
      expect.stringContaining('Not found: checkpoint'),
    ]);
    expect(await fails(rollback(plan, '01HXYZ1234567890ABCDEFGHJK'), 3)).toEqual([
      'CHECKPOINT_NOT_FOUND',
      'Not found: checkpoint 01HXYZ1234567890ABCDEFGHJK',
    ]);
    expect(await fails(rollback(plan, foreign.checkpoint_id), 2)).toEqual([
      'VALIDATION_ERROR',
      expect.stringContaining('Validation Error'),
    ]);
    expect(await fails(rollback('nobody-knows', own.checkpoint_id), 3)).toEqual([
      'PLAN_NOT_FOUND',
      expect.stringContaining('Not found: plan'),
    ]);
    expect(await place.json(['plan', 'apply', '--yes', plan])).toMatchObject({ plan: { state: 'applied' } });
    const [code, message] = await fails(rollback(plan, own.checkpoint_id), 4);
    expect(code).toBe('BUSINESS_RULE_VIOLATION');
    expect(message).toContain('Rollback blocked: plan is already applied');
    expect(message).toContain(plan);
  });

  test('rollback of a plan whose sandbox is missing is blocked with status 4', async () => {
    const place = cliSandbox();
    const file = planIn(
      place,
      'sandbox: filesystem_copy\nsteps: [{ tool: write_file, path: a, content: "" }]\n',
    );
    const { plan_id: id, sandbox } = await place.json(['plan', 'run', '--quiet', file]);
    const [checkpoint] = await place.json(['plan', 'checkpoint', 'list', id]);
    rmSync(sandbox.path, { recursive: true });
    const rollback = ['plan', 'rollback', '--yes', id, checkpoint.checkpoint_id];
    const { error } = await place.json(rollback, { status: 4 });
    expect(error).toMatchObject({
      code: 'BUSINESS_RULE_VIOLATION',
      message: `Rollback blocked: sandbox is missing (${id})`,
    });
    expect((await place.run(rollback)).stderr).toContain('Rollback blocked: sandbox is missing');
  });

  test('rollback at a terminal shows what would change and asks; -y does not', async () => {
    const place = cliSandbox();
    const { plan_id: id } = await place.json(['plan', 'run', '--quiet', planIn(place)]);
    const list: readonly ListedCheckpoint[] = await place.json(['plan', 'checkpoint', 'list', id]);
    const start = list.at(-1)?.checkpoint_id ?? '';
    const rollback = ['plan', 'rollback', id, start];
    const declined = await place.terminal(rollback, [['deleted)?', 'n']]);
    expect([declined.status, place.tree()]).toEqual([4, ['a.txt', 'b.txt']]);
    expect(declined.stdout).toMatch(/delete.*a\.txt[\s\S]*delete.*b\.txt/);
    const agreed = await place.terminal(rollback, [['deleted)?', 'y']]);
    expect([agreed.status, place.tree()]).toEqual([0, []]);
    expect(agreed.stdout).toContain('Rollback completed successfully.');
    place.write('a.txt', 'again');
    expect((await place.terminal([...rollback, '-y'])).status).toBe(0);
    expect(place.tree()).toEqual([]);
  });

  test('checkpoint list has the fields of the seed in all five formats', async () => {
    const place = cliSandbox();
    const { plan_id: id } = await place.json(['plan', 'run', '--quiet', planIn(place)]);
    const list = ['plan', 'checkpoint', 'list', id];
    const fields = [
      'checkpoint_id',
      'checkpoint_type',
      'decision_id',
      'sandbox_ref',
      'size_bytes',
      'created_at',
    ] as const;
    const records: readonly Readonly<Record<string, unknown>>[] = await place.json(list);
    expect(records.map(({ checkpoint_type: type }) => type)).toEqual([
      ...['post_step', 'pre_write', 'post_step', 'pre_write', 'post_step', 'pre_write'],
      'run_start',
    ]);
    for (const record of records) {
      expect(record).toMatchObject({
        checkpoint_id: expect.stringMatching(ULID),
        plan_id: id,
        sandbox_ref: expect.stringMatching(/^cas:[^/]+\/\d+$/),
        resource_id: null,
        filesystem_path: expect.stringMatching(/^checkpoints\/[^/]+\/\d{4}\.json$/),
        size_bytes: expect.any(Number),
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      });
      expect(Object.keys(record['metadata'] as object)).toEqual(
        expect.arrayContaining(['reason', 'source_tool', 'phase', 'extra']),
      );
      if (record['checkpoint_type'] !== 'run_start')
        expect(record['decision_id']).toEqual(expect.stringMatching(ULID));
    }
    const rows = records.map((record) => fields.map((field) => String(record[field] ?? '')));
    const text = async (format: string) => (await place.ok([...list, '-f', format])).trimEnd().split('\n');
    expect(parseYaml((await text('yaml')).join('\n'))).toEqual(records);
    expect((await text('plain')).map((line) => line.split('\t'))).toEqual(rows);
    const table = (await text('table')).map((line) => line.split('|').slice(1, -1));
    expect(table.map((cells) => cells.map((cell) => cell.trim()))).toEqual([
      fields,
      fields.map(() => expect.stringMatching(/^-+$/)),
      ...rows,
    ]);
    const rich = (await text('rich')).map((line) => line.split(/ {2,}/));
    expect(rich).toEqual([fields, ...rows.map((row) => row.filter((cell) => cell !== ''))]);
  });

  test('rollback says the same in all five formats', async () => {
    const place = cliSandbox();
    const { plan_id: id } = await place.json(['plan', 'run', '--quiet', planIn(place)]);
    const records: readonly ListedCheckpoint[] = await place.json(['plan', 'checkpoint', 'list', id]);
    const target = records.find(({ checkpoint_type: type }) => type === 'run_start')?.checkpoint_id ?? '';
    for (const format of ['json', 'yaml', 'plain', 'table', 'rich'] as const) {
      const text = await place.ok(['plan', 'rollback', '--yes', id, target, '-f', format]);
      if (format === 'json' || format === 'yaml') {
        expect(parseYaml(text)).toMatchObject({
          rollback_summary: { plan_id: id, from_checkpoint_id: target, restored_files_count: 2 },
          changes_reverted: ['a.txt', 'b.txt'],
          impact: { files_affected: 2 },
          post_rollback_state: { active_checkpoint: target, plan_id: id },
          timing: { elapsed_seconds: expect.any(Number) },
          messages: ['Rollback completed successfully.'],
        });
      } else {
        const words = text.split(/[|\s]+/).join(' ');
        for (const [field, value] of [
          ['plan_id', id],
          ['from_checkpoint_id', target],
          ['restored_files_count', '2'],
          ['files_affected', '2'],
          ['active_checkpoint', target],
          ['delete', 'a.txt'],
          ['delete', 'b.txt'],
        ])
          expect(words).toContain(`${field} ${value}`);
        expect(words).toMatch(/elapsed_seconds \d+\.\d+/);
        expect(text).toContain('Rollback completed successfully.\n');
      }
      expect(place.tree()).toEqual([]);
      for (const name of ['a.txt', 'b.txt']) place.write(name, format);
    }
  });

  test('list, status, tree and diff print for people and programs', async () => {
    const place = cliSandbox();
    const { plan_id: id } = await place.json(['plan', 'run', '--quiet', planIn(place)]);
    for (const command of [['list'], ['status', id], ['tree', id], ['diff', id]])
      expect(await place.ok(['plan', ...command, '-f', 'rich'])).not.toBe('');
    const yaml = parseYaml(await place.ok(['plan', 'list', '-f', 'yaml']));
    expect(yaml).toMatchObject([{ plan_id: id, state: 'complete' }]);
    expect((await place.json(['plan', 'diff', id])).changes).toHaveLength(2);
  });

  test('tree hangs the checkpoints on the decisions and dims what was rolled back', async () => {
    const place = cliSandbox();
    const { plan_id: id } = await place.json(['plan', 'run', '--quiet', planIn(place)]);
    const tree = await place.json(['plan', 'tree', id]);
    const hung = ['pre_write', 'post_step'].map((type) => ({ checkpoint_type: type }));
    expect(tree).toMatchObject({
      checkpoints: [{ checkpoint_type: 'run_start' }],
      decisions: [
        { kind: 'write_file', checkpoints: hung },
        { kind: 'edit_file', checkpoints: hung },
        { kind: 'shell', checkpoints: hung, tool_calls: [{ output: 'said\n' }] },
      ],
    });
    const [first, second] = tree.decisions;
    await place.ok(['plan', 'rollback', '-y', id, first.checkpoints[1].checkpoint_id]);
    const shown = await place.terminal(['plan', 'tree', id]);
    const line = (words: string) => shown.stdout.split('\n').find((text) => text.includes(words)) ?? '';
    expect(line(first.decision_id)).toContain('├─ 1. write_file a.txt: complete');
    expect(line(first.decision_id)).not.toContain('\u001b[2m');
    expect(line(first.checkpoints[0].checkpoint_id)).toContain('│  ├─ pre_write');
    expect(line(second.decision_id)).toMatch(new RegExp(`^${DIM}├─ 2\\. edit_file a\\.txt: rolled_back`));
    expect(line(second.checkpoints[1].checkpoint_id)).toMatch(new RegExp(`^${DIM}│ {2}└─ post_step`));
  });

  test('fails with status 1, says why and resumes', async () => {
    const place = cliSandbox();
    const file = planIn(place, 'steps:\n  - { tool: shell, command: "test -e go" }\n');
    const failed = await place.run(['plan', 'run', file, '--format', 'plain']);
    expect(failed.status).toBe(1);
    expect(failed.stderr).toContain('exited with status 1');
    const id = failed.stdout.trim();
    place.write('go', '');
    expect((await place.run(['plan', 'run', '--resume', id.slice(-8)])).status).toBe(0);
  });

  test('tells line and column of a bad file with status 2', async () => {
    const place = cliSandbox();
    const { error } = await place.json(
      ['plan', 'run', '--quiet', planIn(place, 'steps:\n  - { tool: nope }\n')],
      {
        status: 2,
      },
    );
    expect(error).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringMatching(/plan\.yaml:2:13: steps\[0\]\.tool/),
      details: { problems: [{ line: 2, column: 13 }] },
    });
    expect((await place.run(['plan', 'run'])).status).toBe(2);
    expect((await place.run(['plan', 'run', 'gone.yaml'])).status).toBe(3);
    expect(await place.json(['plan', 'list'])).toEqual([]);
  });

  test('run --format json prints a JSON line per event, and the plan as the last', async () => {
    const place = cliSandbox();
    const output = await place.run(['plan', 'run', planIn(place), '--format', 'json']);
    expect([output.status, output.stderr]).toEqual([0, '']);
    const lines = output.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const plan = lines.at(-1);
    expect(plan).toMatchObject({ kind: 'plan', state: 'complete', name: 'demo' });
    const kinds = lines.map(({ kind, checkpoint_type: type }) => type ?? kind);
    const step = ['step_queued', 'pre_write', 'step_started', 'step_finished', 'post_step'];
    expect(kinds.filter((kind) => kind !== 'output')).toEqual([
      'plan_created',
      'phase_changed',
      'sandbox_created',
      'run_start',
      'phase_changed',
      ...step,
      ...step,
      ...step,
      'phase_changed',
      'plan',
    ]);
    expect(lines.find(({ kind }) => kind === 'output')).toMatchObject({ stream: 'stdout', text: 'said\n' });
    for (const { plan_id: id } of lines) expect(id).toBe(plan.plan_id);
    const taken = lines.flatMap(({ kind, checkpoint_id: id }) => (kind === 'checkpoint_taken' ? [id] : []));
    const listed = await place.json(['plan', 'checkpoint', 'list', plan.plan_id]);
    expect(taken.toReversed()).toEqual(listed.map(({ checkpoint_id: id }: { checkpoint_id: string }) => id));
  });

  test('run shows what goes on at a terminal', async () => {
    const place = cliSandbox();
    const shown = await place.terminal(['plan', 'run', planIn(place)]);
    expect(shown.status).toBe(0);
    for (const text of [
      'write_file a.txt',
      'edit_file a.txt',
      'cat a.txt > b.txt',
      'said',
      'execute/complete',
    ])
      expect(shown.stdout).toContain(text);
  });

  test('creates and deletes checkpoints of a plan by hand', async () => {
    const place = cliSandbox();
    const { plan_id: id } = await place.json(['plan', 'run', '--quiet', planIn(place)]);
    const checkpoint = (
      await place.ok(['plan', 'checkpoint', 'create', id, '--reason', 'by hand', '-f', 'plain'])
    ).trim();
    const again = await place.json(['plan', 'checkpoint', 'create', id, '--sandbox-ref', 'nothing'], {
      status: 2,
    });
    expect(again.error.message).toContain('Validation Error');
    expect((await place.json(['plan', 'checkpoint', 'list', id]))[0]).toMatchObject({
      checkpoint_id: checkpoint,
      checkpoint_type: 'manual',
      metadata: { reason: 'by hand' },
    });
    expect((await place.run(['plan', 'checkpoint', 'delete', id, checkpoint])).status).toBe(4);
    await place.ok(['plan', 'checkpoint', 'delete', '--yes', id, checkpoint]);
    expect((await place.run(['plan', 'checkpoint', 'delete', '--yes', id, checkpoint])).status).toBe(3);
  });

  test('corrects a decision, after showing the impact', async () => {
    const place = cliSandbox();
    const { plan_id: id } = await place.json(['plan', 'run', '--quiet', planIn(place)]);
    const { decisions } = await place.json(['plan', 'tree', id]);
    const correct = ['plan', 'correct', '--mode', 'revert', '--guidance', 'again', decisions[1].decision_id];
    const dry = await place.json([...correct, '--dry-run']);
    expect(dry).toMatchObject({ dry_run: true, correction: null, impact: { files_affected: 2 } });
    expect((await place.run(correct)).status).toBe(4);
    const done = await place.json([...correct, '--yes', '--quiet']);
    expect(done).toMatchObject({
      plan: { state: 'complete' },
      correction: { mode: 'revert', replaced: [decisions[1].decision_id, decisions[2].decision_id] },
    });
    expect(place.read('b.txt')).toBe('two\n');
    const append = ['plan', 'correct', '--mode', 'append', '--guidance', 'g', decisions[0].decision_id];
    expect(await place.json(append)).toMatchObject({ correction: { mode: 'append', replaced: [] } });
    expect((await place.run([...correct.slice(0, 3), 'sideways', ...correct.slice(4)])).status).toBe(2);
  });

  test('an interrupt ends the step, keeps the plan resumable and gives status 130', async () => {
    const place = cliSandbox();
    const file = planIn(
      place,
      'steps:\n  - { tool: shell, command: "echo $$ > pid; test -e go || sleep 60" }\n',
    );
    const output = await place.run(['plan', 'run', file], {
      during: async (child) => {
        for (let tries = 0; tries < 200 && !place.exists('pid'); tries += 1)
          await new Promise((resolve) => setTimeout(resolve, 50));
        child.kill('SIGINT');
      },
    });
    expect(output.status).toBe(130);
    const [plan] = await place.json(['plan', 'list']);
    expect(plan).toMatchObject({ state: 'errored', error: { code: 'INTERRUPTED' } });
    place.write('go', '');
    expect(await place.json(['plan', 'run', '--quiet', '--resume', plan.plan_id])).toMatchObject({
      state: 'complete',
    });
  });

  test('gives variables and the session to steps', async () => {
    const place = cliSandbox();
    const file = planIn(
      place,
      'steps:\n  - { tool: shell, command: "echo {{ who }} $WAYMARK_SESSION $WAYMARK_PLAN > out" }\n',
    );
    const plan = await place.json(['plan', 'run', '--quiet', '--var', 'who=me', file, '--session', 'night']);
    expect(place.read('out')).toBe(`me night ${plan.plan_id}\n`);
    expect((await place.run(['plan', 'run', file, '--var', 'who'])).status).toBe(2);
    expect(readFileSync(file, 'utf8')).toContain('{{ who }}');
  });

  test('runs inside exec, results of lanes and all', async () => {
    const place = cliSandbox();
    const lanes =
      'steps:\n  - parallel:\n' +
      ['x', 'y']
        .map(
          (name) => `      - { name: ${name}, steps: [{ tool: write_file, path: ${name}, content: "" }] }\n`,
        )
        .join('');
    const file = planIn(place, lanes);
    await place.ok(['exec', '--', process.execPath, BIN, 'plan', 'run', file]);
    expect(place.exists('x') && place.exists('y')).toBe(true);
  });
});

test('waymark plan run prints the problems of a document a line each, and what it runs again', async () => {
  const place = cliSandbox();
  const bad = planIn(place, 'steps:\n  - { tool: wrong }\n  - { tool: shell }\n', '../bad.yaml');
  const { stderr } = await place.run(['plan', 'run', bad]);
  expect(stderr.trimEnd().split('\n')).toHaveLength(2);
  expect(stderr).not.toContain('\\n');
  const step = { tool: 'shell', title: 'look for go', command: 'test -e go' };
  const file = planIn(place, JSON.stringify({ steps: [step] }), '../plan.json');
  const failed = await place.json(['plan', 'run', '--quiet', file], { status: 1 });
  place.write('go', '');
  const again = await place.run(['plan', 'run', '--resume', failed.plan_id]);
  expect(again.stderr).toContain('waymark: look for go, attempt 2');
  const complete = await place.run(['plan', 'run', '--resume', failed.plan_id]);
  expect([complete.status, complete.stderr]).toEqual([0, expect.stringContaining('is complete')]);
});

test.each([['--yes'], ['--quiet'], ['--format=json']])(
  'what goes back with a step that runs again is named, with the checkpoint that has it (%s)',
  async (how) => {
    const place = cliSandbox();
    const again = join(place.base, 'again');
    const file = join(place.base, 'killed.json');
    const command = `test -e ${again} && exit 0; echo half > two; touch ${again}; kill -9 $PPID; sleep 600`;
    writeFileSync(file, JSON.stringify({ steps: [{ title: 'dies', tool: 'shell', command }] }));
    place.write('user.txt', 'before\n');
    expect(await place.run(['plan', 'run', file])).toMatchObject({ signal: 'SIGKILL' });
    place.write('user.txt', 'an evening of work\n');
    place.write('notes.md', 'notes\n');
    const [plan] = await place.json(['plan', 'list']);
    const { status, stdout, stderr } = await place.run(['plan', 'run', '--resume', plan.plan_id, how]);
    expect(status).toBe(0);
    expect(place.tree()).toEqual(['user.txt']);
    const event = (text: string) => {
      const events = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      return events.find(({ kind }) => kind === 'step_taken_back');
    };
    const safety =
      how === '--format=json'
        ? event(stdout).checkpoint_id
        : /3 paths of .* went back to before "dies" began: notes\.md, two, user\.txt\. As they were: waymark checkpoints restore (\S+) PATH/.exec(
            stderr,
          )?.[1];
    if (how === '--format=json') {
      expect(event(stdout)).toMatchObject({ count: 3, paths: ['notes.md', 'two', 'user.txt'] });
    }
    await place.ok(['checkpoints', 'restore', safety, 'user.txt', 'notes.md', '--yes']);
    expect([place.read('user.txt'), place.read('notes.md')]).toEqual(['an evening of work\n', 'notes\n']);
  },
);

test('apply says which sandbox stays, for what, and what to do', async () => {
  const place = cliSandbox();
  place.write('.gitignore', 'data/\n');
  const file = join(place.base, 'copy.json');
  const command = 'mkdir data; echo r > data/result; echo P > signing.key; echo b > brought';
  writeFileSync(file, JSON.stringify({ sandbox: 'filesystem_copy', steps: [{ tool: 'shell', command }] }));
  const plan = await place.json(['plan', 'run', '--quiet', file]);
  const { status, stdout, stderr } = await place.run([
    'plan',
    'apply',
    plan.plan_id,
    '--yes',
    '--format',
    'json',
  ]);
  expect([status, stderr]).toEqual([
    0,
    expect.stringMatching(
      /stays: nothing else holds .*signing\.key \(a secret\)\. Copy away what you need, then delete it/,
    ),
  ]);
  const [kept] = JSON.parse(stdout).kept_sandboxes;
  expect(kept).toMatchObject({ plan_id: plan.plan_id, path: plan.sandbox.path, because: null });
  expect(kept.unheld).toContainEqual({ path: 'signing.key', reason: 'secret' });
  expect(existsSync(join(plan.sandbox.path, 'data/result'))).toBe(true);
});
