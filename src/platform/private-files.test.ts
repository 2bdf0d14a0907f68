import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runScript } from '../../test/support/run-script.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';

const script = join(import.meta.dirname, '../../test/support/private-files.ts');

test.each(['000', '022', '077', '377'])(
  'SE-05: under umask %s every file is 0600 and every directory 0700, those of SQLite too',
  async (umask) => {
    using directory = temporaryDirectory();
    const modes = JSON.parse(await runScript(script, join(directory.path, 'home'), umask).output);
    expect(modes).toEqual({
      '': '700',
      a: '700',
      'a/b': '700',
      'a/b/catalog.db': '600',
      'a/b/catalog.db-shm': '600',
      'a/b/catalog.db-wal': '600',
      'a/b/file': '600',
      locks: '700',
      'locks/one': '600',
      'locks/two': '600',
    });
  },
);
