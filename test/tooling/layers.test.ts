import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FOLDERS, LAYERS, OWN } from '../../scripts/layers/layers.ts';

const CHECK = join(import.meta.dirname, '../../scripts/check-layers.ts');
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'waymark-layers-'));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, 'src', path)), { recursive: true });
  writeFileSync(join(root, 'src', path), text);
}

function check(): { readonly status: number | null; readonly problems: readonly string[] } {
  const { status, stderr } = spawnSync(process.execPath, [CHECK, root], { encoding: 'utf8' });
  return { status, problems: stderr.split('\n').filter((line) => line !== '') };
}

const names = Object.keys(LAYERS);
const fileOf = (layer: string, name: string) => (layer === 'index' ? `${name}.ts` : `${layer}/${name}.ts`);
const importOf = (from: string, to: string) =>
  `${from === 'index' ? './' : '../'}${to === 'index' ? 'index.ts' : `${to}/thing.ts`}`;
const arrows = names.flatMap((from) => names.filter((to) => to !== from).map((to) => ({ from, to })));
const isAllowed = ({ from, to }: { from: string; to: string }) => LAYERS[from]?.includes(to) === true;

/** As the design writes them; beside them stands `workers/`, what other threads start with, which nobody imports. */
const DESIGN =
  'domain <- platform <- {workspace, stores, catalog, config} <- {restore, worktree} <- checkpoints <- runs <- plans <- index <- cli';

describe('check-layers', () => {
  test('knows the arrows of the design and no others', () => {
    const steps = DESIGN.split(' <- ').map((step) => step.replace(/^\{|\}$/g, '').split(', '));
    const expected = steps.flatMap((step, at) =>
      step.map((layer) => [layer, steps.slice(0, at).flat().toSorted()] as const),
    );
    const known = names.map((layer) => [layer, [...(LAYERS[layer] ?? [])].sort()] as const);
    const workers = ['workers', ['domain', 'platform', 'restore', 'workspace']] as const;
    expect(Object.fromEntries(known)).toEqual(Object.fromEntries([...expected, workers]));
  });

  test('refuses a canary import for every arrow that the design forbids', () => {
    const forbidden = arrows.filter((arrow) => !isAllowed(arrow));
    for (const { from, to } of forbidden) {
      write(fileOf(from, `canary-${to}`), `import { thing } from '${importOf(from, to)}';\n`);
    }
    const { status, problems } = check();
    expect(status).toBe(1);
    expect(problems.map((line) => line.replace(/ \(.*$/, '')).sort()).toEqual(
      forbidden
        .map(({ from, to }) => `src/${fileOf(from, `canary-${to}`)}:1: ${from} must not import ${to}`)
        .sort(),
    );
  });

  test('accepts every arrow that the design allows', () => {
    for (const arrow of arrows.filter(isAllowed)) {
      write(
        fileOf(arrow.from, `use-${arrow.to}`),
        `import { thing } from '${importOf(arrow.from, arrow.to)}';\n`,
      );
    }
    expect(check()).toEqual({ status: 0, problems: [] });
  });

  describe.each(Object.entries(FOLDERS))('the folders of %s', (parent, steps) => {
    const folders = steps.flatMap((step, at) => step.map((name) => ({ name, at })));
    const nameOf = (folder: string) => (folder === OWN ? parent : `${parent}/${folder}`);
    const pairs = folders.flatMap((from) => folders.map((to) => ({ from, to })));
    const arrow = (from: string, to: string) =>
      write(
        join(parent, from, `canary-${to === OWN ? 'own' : to}.ts`),
        `import { thing } from '${from === OWN ? './' : '../'}${join(to, 'thing.ts')}';\n`,
      );

    test('refuses a canary import for every arrow against their order', () => {
      const forbidden = pairs.filter(({ from, to }) => from.name !== to.name && to.at >= from.at);
      for (const { from, to } of forbidden) arrow(from.name, to.name);
      const { status, problems } = check();
      expect(status).toBe(1);
      expect(problems.map((line) => line.replace(/^.*?: | \(.*$/g, '')).sort()).toEqual(
        forbidden.map(({ from, to }) => `${nameOf(from.name)} must not import ${nameOf(to.name)}`).sort(),
      );
    });

    test('accepts every arrow along it', () => {
      for (const { from, to } of pairs) {
        if (from.name === to.name || to.at < from.at) arrow(from.name, to.name);
      }
      expect(check()).toEqual({ status: 0, problems: [] });
    });

    test('names a folder that has no place in it', () => {
      write(`${parent}/utils/things.ts`, 'export const x = 1;\n');
      expect(check().problems[0]).toContain(`src/${parent}/utils/things.ts has no place in ${parent}`);
    });
  });

  test.each([
    ["export { thing } from '../cli/thing.ts';", 'cli'],
    ["export * from '../cli/thing.ts';", 'cli'],
    ["import '../cli/thing.ts';", 'cli'],
    ["import type { Thing } from '../cli/thing.ts';", 'cli'],
    ["const thing = await import('../cli/thing.ts');", 'cli'],
    ['const thing = await import(`../cli/thing.ts`);', 'cli'],
    ["import {\n  one,\n  two,\n} from '../cli/thing.ts';", 'cli'],
    ["import { thing } from './../cli/thing.ts';", 'cli'],
    ["import { thing } from '../../elsewhere/thing.ts';", 'outside src'],
  ])('sees through %j', (text, what) => {
    write('domain/canary.ts', `${text}\n`);
    const { status, problems } = check();
    expect(status).toBe(1);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(what);
  });

  test.each([
    ["import { writeFileSync } from 'node:fs';", 'writeFileSync'],
    ["import { rmSync, readFileSync } from 'fs';", 'rmSync'],
    ["import * as fs from 'node:fs';", 'everything'],
    ["import fs from 'node:fs';", 'everything'],
    ["import { writeFile } from 'node:fs/promises';", 'node:fs/promises'],
    ["const fs = await import('node:fs');", 'everything'],
    ["const fs = process.getBuiltinModule('fs');", 'everything'],
    ["const fs = createRequire(import.meta.url)('node:fs');\nrequire('node:fs');", 'everything'],
    ["import { spawn } from 'node:child_process';", 'child_process'],
    ["import { DatabaseSync } from 'node:sqlite';", 'sqlite'],
    ['export const now = Date.now();', 'Date.now('],
    ['export const now = new Date();', 'new Date()'],
    ['export const dice = Math.random();', 'Math.random('],
    ['export const home = process.env;', 'process.env'],
    ['process.exit(1);', 'process.exit'],
    ["console.log('x');", 'console.'],
    ['export const flags = constants.O_WRONLY;', 'O_WRONLY'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
    ['export const text = `at ${Date.now()}`;', 'Date.now('],
  ])('keeps %j to its layer', (text, what) => {
    write('checkpoints/canary.ts', `${text}\n`);
    const { status, problems } = check();
    expect(status).toBe(1);
    expect(problems[0]).toContain(what);
  });

  test('is not misled by comments, strings, expressions with slashes, types and reading', () => {
    write(
      'checkpoints/fine.ts',
      [
        "// import { spawn } from 'node:child_process';",
        '/* Date.now() */',
        'export const text = "import { x } from \'../cli/x.ts\'; Date.now()";',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
        'export const template = `Math.random() ${text}`;',
        'export const expression = /Date.now\\(\\)[\'"]/.test(text);',
        "import { lstatSync, readFileSync, type Stats } from 'node:fs';",
        "import type { ChildProcess } from 'node:child_process';",
        'export const then = new Date(0).toISOString();',
        'export const ratio = 4 / 2 / 1;',
      ].join('\n'),
    );
    write('platform/clock.ts', 'export const now = () => Date.now();\n');
    write('checkpoints/thing.test.ts', "import { rmSync } from 'node:fs';\nrmSync('x');\n");
    expect(check()).toEqual({ status: 0, problems: [] });
  });

  test('names a folder that is no layer', () => {
    write('utils/things.ts', 'export const x = 1;\n');
    expect(check().problems[0]).toContain('src/utils/things.ts lies in no layer');
  });

  test('finds the product clean', () => {
    const output = execFileSync(process.execPath, [CHECK], {
      cwd: join(import.meta.dirname, '../..'),
      encoding: 'utf8',
    });
    expect(output).toMatch(/no violation/);
  });
});
