import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shadowPlace } from '../../../test/support/fresh-shadow-place.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';

/** A git whose import says what a git on a full disk says. */
function failingGit(directory: string, said: string): string {
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const script = `#!/bin/sh
case " $* " in *" fast-import "*) printf '%s\n' ${said} >&2; exit 128;; esac
exec '${git}' "$@"
`;
  writeFileSync(join(directory, 'git'), script, { mode: 0o755 });
  return `${directory}:${process.env['PATH'] ?? ''}`;
}

test.each([
  [`"warning: something else first" "fatal: write error: No space left on device" "fast-import: dumping"`],
  [`"error: file write error: No space left on device" "fatal: Unable to create x: No space left on device"`],
  [`"fatal: sha1 file 'tmp_pack_x' write error. Out of diskspace" "fast-import: dumping crash report"`],
])('an import that ends with %s is NO_SPACE', async (said) => {
  using directory = temporaryDirectory();
  const place = shadowPlace({}, { PATH: failingGit(directory.path, said) });
  await expect(place.capture({ a: '1' })).rejects.toMatchObject({
    code: 'NO_SPACE',
    message: expect.stringMatching(/space/i),
    hint: expect.stringContaining('prune'),
  });
});

test('an import that fails for another reason is GIT_FAILED and gives the reason', async () => {
  using directory = temporaryDirectory();
  const said = `"warning: something else first" "fatal: Unsupported command: x" "fast-import: dumping"`;
  const place = shadowPlace({}, { PATH: failingGit(directory.path, said) });
  await expect(place.capture({ a: '1' })).rejects.toMatchObject({
    code: 'GIT_FAILED',
    message: 'git fast-import failed with status 128: fatal: Unsupported command: x',
  });
});
