import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXIT_STATUS } from '../../src/cli/exit-status.ts';
import { ERROR_CODES } from '../../src/domain/errors.ts';

test('docs/exit-codes.md lists every error code with the status that the command line gives it', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/exit-codes.md'), 'utf8');
  const rows = [...text.matchAll(/^\| `([A-Z_]+)` \| (\d+) \| (\S.*) \|$/gm)];
  const documented = Object.fromEntries(rows.map(([, code, status]) => [code, Number(status)]));
  expect(documented).toEqual(EXIT_STATUS);
  expect(Object.keys(EXIT_STATUS).sort()).toEqual([...ERROR_CODES].sort());
});
