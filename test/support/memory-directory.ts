import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** Makes an empty directory in memory where the machine has such a place, for tests that make thousands of small trees. */
export function memoryDirectory(): Disposable & { readonly path: string } {
  const place = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const path = realpathSync(mkdtempSync(`${place}/waymark-test-`));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
