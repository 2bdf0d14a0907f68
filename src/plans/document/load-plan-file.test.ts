import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isWaymarkError } from '../../domain/errors.ts';
import { loadPlanFile } from './load-plan-file.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'waymark-plan-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function file(text: string, name = 'plan.yaml'): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

async function problemsOf(text: string, name = 'plan.yaml') {
  const error: unknown = await loadPlanFile(file(text, name)).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isWaymarkError(error, 'VALIDATION_ERROR')) throw error ?? new Error('no error');
  const { problems } = error.details as {
    problems: {
      path: string;
      message: string;
      line: number | null;
      column: number | null;
    }[];
  };
  return { message: error.message, problems };
}

describe('loadPlanFile()', () => {
  test('reads every tool with its defaults', async () => {
    const plan = await loadPlanFile(
      file(`
name: everything
guidance: be brief
steps:
  - { tool: write_file, path: a.txt, content: "x\\n" }
  - { tool: edit_file, path: a.txt, search: x, replace: y, retry: 2 }
  - { tool: edit_file, path: a.txt, edits: [{ search: y, replace: '' }] }
  - { tool: delete_file, path: a.txt, continue_on_error: true }
  - { tool: apply_patch, patch: "--- a\\n" }
  - { tool: shell, command: npm test, timeout: 2m }
  - { tool: shell, command: [echo, hi], cwd: sub, env: { N: 1 }, timeout: 1.5 }
  - { tool: agent, prompt: do it }
  - subplan: { steps: [{ tool: delete_file, path: b }] }
  - parallel: [{ name: one, steps: [{ tool: delete_file, path: b }] }]
    max_parallel: 2
`),
    );
    expect(plan).toMatchObject({
      name: 'everything',
      guidance: ['be brief'],
    });
    expect(plan.steps).toEqual([
      { tool: 'write_file', path: 'a.txt', content: 'x\n', retry: 0, continueOnError: false },
      {
        tool: 'edit_file',
        path: 'a.txt',
        edits: [{ search: 'x', replace: 'y' }],
        retry: 2,
        continueOnError: false,
      },
      {
        tool: 'edit_file',
        path: 'a.txt',
        edits: [{ search: 'y', replace: '' }],
        retry: 0,
        continueOnError: false,
      },
      { tool: 'delete_file', path: 'a.txt', retry: 0, continueOnError: true },
      { tool: 'apply_patch', patch: '--- a\n', retry: 0, continueOnError: false },
      { tool: 'shell', command: 'npm test', env: {}, timeoutMs: 120_000, retry: 0, continueOnError: false },
      {
        tool: 'shell',
        command: ['echo', 'hi'],
        cwd: 'sub',
        env: { N: '1' },
        timeoutMs: 1500,
        retry: 0,
        continueOnError: false,
      },
      { tool: 'agent', prompt: 'do it', env: {}, retry: 0, continueOnError: false },
      expect.objectContaining({ sandbox: 'shared', subplan: expect.objectContaining({ name: 'subplan' }) }),
      expect.objectContaining({ sandbox: 'filesystem_copy', maxParallel: 2 }),
    ]);
  });

  test('names the plan by its file unless it says a name', async () => {
    expect((await loadPlanFile(file('steps: [{tool: delete_file, path: x}]', 'fix-it.yml'))).name).toBe(
      'fix-it',
    );
  });

  test('tells line and column of everything wrong', async () => {
    const { message, problems } = await problemsOf(`name: x
steps:
  - tool: write_file
    path: a
    contents: b
  - tool: wrong
  - path: nothing
  - tool: shell
    command: ls
    timeout: soon
    retry: 99
`);
    expect(problems).toEqual([
      expect.objectContaining({ path: 'steps[0].content', line: 3, column: 5 }),
      { path: 'steps[0].contents', message: 'unknown key', line: 5, column: 15 },
      expect.objectContaining({ path: 'steps[1].tool', line: 6, column: 11 }),
      expect.objectContaining({ path: 'steps[2]', line: 7, column: 5 }),
      expect.objectContaining({ path: 'steps[3].timeout', line: 10, column: 14 }),
      expect.objectContaining({ path: 'steps[3].retry', line: 11, column: 12 }),
    ]);
    expect(message).toContain(`${join(dir, 'plan.yaml')}:6:11: steps[1].tool: no tool "wrong"`);
  });

  test.each([
    ['name: [x\nsteps: 1', 2],
    ['steps:\n  - a: 1\n   b: 2', 3],
    ['a: 1\na: 2', 2],
    ['a: *nobody', 1],
  ])('tells where the YAML %j is broken', async (text, line) => {
    const { problems } = await problemsOf(text);
    expect(problems.some((problem) => problem.line === line)).toBe(true);
  });

  test('tells where JSON is broken, and takes nothing but JSON there', async () => {
    expect((await problemsOf('{\n  "name": x\n}', 'p.json')).problems[0]).toMatchObject({
      line: 2,
      column: 11,
    });
    expect((await problemsOf('{\n  "steps": [], "steps": []\n}', 'p.json')).problems[0]).toMatchObject({
      line: 2,
    });
    const plan = await loadPlanFile(file('{\n\t"steps": [{"tool":"delete_file","path":"a"}]}', 'q.json'));
    expect(plan.steps).toHaveLength(1);
  });

  test.each(['', '[]', '3', 'null', 'steps: []', 'steps: 3', 'steps: [3]', 'steps: [[]]'])(
    'refuses %j',
    async (text) => {
      expect((await problemsOf(text)).problems.length).toBeGreaterThan(0);
    },
  );

  test('refuses a file that grows without bound', async () => {
    const levels = Array.from({ length: 9 }, (_, at) => {
      const below = at === 0 ? 'x' : `*l${at - 1}`;
      return `l${at}: &l${at} [${Array(10).fill(below).join(', ')}]`;
    });
    expect((await problemsOf(levels.join('\n'))).message).toContain('alias');
  });

  test.each(['p.json', 'p.yaml'])('refuses nesting that would overflow the stack in %s', async (name) => {
    const deep = `{"steps": ${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    expect((await problemsOf(deep, name)).problems.length).toBeGreaterThan(0);
  });

  test('fills in variables; a subplan inherits and overrides them', async () => {
    const plan = await loadPlanFile(
      file(`
variables: { dir: src, n: 3 }
steps:
  - { tool: write_file, path: "{{dir}}/{{ n }}.txt", content: "{{n}} {{ unknown }} {{.x}}" }
  - subplan:
      variables: { n: "{{dir}}" }
      steps: [{ tool: shell, command: "ls {{dir}} {{n}}" }]
`),
    );
    expect(plan.steps[0]).toMatchObject({ path: 'src/3.txt', content: '3 {{ unknown }} {{.x}}' });
    expect(plan.steps[1]).toMatchObject({ subplan: { steps: [{ command: 'ls src {{dir}}' }] } });
  });

  test('refuses an unknown variable where it can only be a mistake', async () => {
    const { problems } = await problemsOf('steps:\n  - tool: delete_file\n    path: "{{ tpyo }}"\n');
    expect(problems).toEqual([{ path: 'steps[0].path', message: 'no variable "tpyo"', line: 3, column: 11 }]);
    expect((await problemsOf('steps: [{tool: shell, command: "{{constructor}}"}]')).problems).toHaveLength(1);
  });

  test('reads subplans from files beside it and reports their problems with their own place', async () => {
    mkdirSync(join(dir, 'sub'));
    file('steps: [{ tool: delete_file, path: "{{x}}" }]', 'sub/child.yaml');
    const plan = await loadPlanFile(
      file('variables: { x: y }\nsteps:\n  - subplan: sub/child.yaml\n  - parallel: [sub/child.yaml]\n'),
    );
    expect(plan.steps[0]).toMatchObject({ subplan: { name: 'child', steps: [{ path: 'y' }] } });
    file('steps: [{ tool: nope }]', 'sub/bad.yaml');
    const { message } = await problemsOf('steps:\n  - subplan: sub/bad.yaml\n');
    expect(message).toMatch(/plan\.yaml:2:14: steps\[0\]\.subplan: .*bad\.yaml:1:17: steps\[0\]\.tool/s);
  });

  test('refuses a plan that includes itself, and a missing one', async () => {
    expect((await problemsOf('steps: [{ subplan: plan.yaml }]')).message).toContain('includes itself');
    expect((await problemsOf('steps: [{ subplan: gone.yaml }]')).message).toContain('No plan file');
    await expect(loadPlanFile(join(dir, 'gone.yaml'))).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
  });

  test('refuses step ids that are used twice', async () => {
    const { problems } = await problemsOf(
      'steps:\n  - { id: a, tool: delete_file, path: x }\n  - { id: a, tool: delete_file, path: y }\n',
    );
    expect(problems).toEqual([expect.objectContaining({ path: 'steps[1].id', line: 3 })]);
  });

  test('refuses both and neither of search and edits', async () => {
    expect((await problemsOf('steps: [{ tool: edit_file, path: x }]')).problems).toHaveLength(1);
    expect((await problemsOf('steps: [{ tool: edit_file, path: x, search: a }]')).problems).toHaveLength(1);
  });
});

test('loadPlanFile() refuses paths that lead out of the sandbox or into a git directory, and says how a duration is written', async () => {
  const { problems } = await problemsOf(`
variables: { up: .. }
steps:
  - { tool: write_file, path: ../x, content: '' }
  - { tool: delete_file, path: .git/config }
  - { tool: edit_file, path: '{{ up }}/x', search: a, replace: b }
  - { tool: shell, command: ls, cwd: /tmp }
  - { tool: shell, command: ls, timeout: 1x }
  - { tool: shell, command: ls, cwd: sub/ }
`);
  expect(problems.map(({ path, message }) => [path, message])).toEqual([
    ['steps[0].path', expect.stringContaining('not a path inside the sandbox')],
    ['steps[1].path', expect.stringContaining('git directory')],
    ['steps[2].path', expect.stringContaining('not a path inside the sandbox')],
    ['steps[3].cwd', expect.stringContaining('not a path inside the sandbox')],
    ['steps[4].timeout', 'a duration like 500ms, 30s, 5m, 1h, or seconds'],
  ]);
});
