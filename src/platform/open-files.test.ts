import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isOpenSomewhere } from './open-files.ts';

test('isOpenSomewhere() sees open files of this and of another process, and nothing else', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'waymark-open-'));
  const path = join(dir, 'a lock');
  writeFileSync(path, '');
  expect(isOpenSomewhere(path)).toBe(false);

  const fd = openSync(path, 'r');
  expect(isOpenSomewhere(path)).toBe(true);
  closeSync(fd);

  const child = spawn('/bin/sh', ['-c', 'exec 9<"$0"; echo open; read line', path], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  expect(isOpenSomewhere(path)).toBe(true);
  child.kill('SIGKILL');
  await once(child, 'close');
  expect(isOpenSomewhere(path)).toBe(false);
  expect(isOpenSomewhere(join(dir, 'none'))).toBe(false);
  rmSync(dir, { recursive: true });
});
