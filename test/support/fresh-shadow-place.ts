import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { StepHook } from '../../src/platform/file-system.ts';
import type { ShadowGitOptions } from '../../src/stores/shadow-git/shadow-git-store.ts';
import { placeAt, type ShadowPlace } from './shadow-place.ts';

/** A {@link ShadowPlace} in a fresh directory, closed and removed when the test ends. */
export function shadowPlace(
  changes: Partial<ShadowGitOptions> = {},
  environment?: Readonly<Record<string, string | undefined>>,
  hook?: StepHook,
): ShadowPlace {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-shadow-')));
  const place = placeAt(directory, changes, environment, hook);
  onTestFinished(async () => {
    await place.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return place;
}
