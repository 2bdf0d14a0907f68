import { describe, expect, test } from 'vitest';
import { pathJson } from '../json/path-json.ts';
import type { Block } from './block.ts';
import { displayWidth, padToWidth } from './display-width.ts';
import { printable } from './printable.ts';
import { renderPlain } from './render-plain.ts';
import { renderRich } from './render-rich.ts';
import { renderTable } from './render-table.ts';
import { structured } from './structured.ts';

const BLOCKS: readonly Block[] = [
  {
    kind: 'table',
    columns: [{ title: 'Hash', tone: 'accent' }, { title: 'Reason' }],
    rows: [
      ['a1b2c3d4', 'pre-wave-3'],
      ['e5', 'a|b\u001b[31m'],
    ],
  },
  { kind: 'fields', fields: [['Name', 'value']] },
  { kind: 'line', text: 'done', tone: 'good' },
];

test('renderPlain() is a record a line with tabs, without titles and escapes', () => {
  expect(renderPlain(BLOCKS)).toBe('a1b2c3d4\tpre-wave-3\ne5\ta|b\\x1b[31m\nName\tvalue\ndone\n');
});

test('renderTable() is the table form of the checkpoint manifest', () => {
  expect(renderTable(BLOCKS)).toBe(
    [
      '| Hash     | Reason       |',
      '|----------|--------------|',
      '| a1b2c3d4 | pre-wave-3   |',
      '| e5       | a\\|b\\x1b[31m |',
      '| Field | Value |',
      '|-------|-------|',
      '| Name  | value |',
      'done',
      '',
    ].join('\n'),
  );
});

describe('renderRich()', () => {
  test('aligns columns and colours only where wanted', () => {
    expect(renderRich(BLOCKS, false)).toBe(
      'Hash      Reason\na1b2c3d4  pre-wave-3\ne5        a|b\\x1b[31m\nName  value\ndone\n',
    );
    const coloured = renderRich(BLOCKS, true);
    expect(coloured).toContain('\u001b[32mdone\u001b[0m');
    expect(coloured).toContain('a|b\\x1b[31m');
  });

  test('says how many rows it does not show; plain shows all', () => {
    const blocks: Block[] = [
      {
        kind: 'table',
        columns: [{ title: 'P' }],
        rows: Array.from({ length: 5 }, (_, i) => [`p${i}`]),
        most: 2,
      },
    ];
    expect(renderRich(blocks, false)).toBe('P\np0\np1\n… and 3 more (--format plain shows all)\n');
    expect(renderPlain(blocks)).toBe('p0\np1\np2\np3\np4\n');
  });

  test('prints nothing for an empty table', () => {
    expect(renderRich([{ kind: 'table', columns: [{ title: 'P' }], rows: [] }], true)).toBe('');
  });
});

test('printable() shows what would move the cursor', () => {
  expect(printable('a\nb\tc\u001b]0;x\u0007\u009b\u007f')).toBe('a\\nb\\tc\\x1b]0;x\\x07\\x9b\\x7f');
  expect(printable('公共 é 🎉 \u202e')).toBe('公共 é 🎉 \\u202e');
  expect(printable('\udcff')).toBe('\\udcff');
});

test('displayWidth() counts columns', () => {
  expect(displayWidth('abc')).toBe(3);
  expect(displayWidth('公共')).toBe(4);
  expect(displayWidth('e\u0301')).toBe(1);
  expect(displayWidth('🎉')).toBe(2);
  expect(padToWidth('公', 4)).toBe('公  ');
});

test('structured() prints JSON and YAML of the same value', async () => {
  const value = { error: { code: 'X', hint: null }, list: [1, 'a: b'] };
  expect(JSON.parse(await structured(value, 'json'))).toEqual(value);
  const { parse } = await import('yaml');
  expect(parse(await structured(value, 'yaml'))).toEqual(value);
});

test('pathJson() is the name, or its quoted form where no JSON string could hold it', () => {
  expect(pathJson('a/new\nline')).toBe('a/new\nline');
  expect(pathJson('f\udcffo')).toBe('"f\\377o"');
  expect(pathJson('"x"')).toBe('"\\"x\\""');
  expect(pathJson('é"')).toBe('é"');
});
