import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { durableWrite } from '../../src/platform/durable-write.ts';
import { createFileSystem } from '../../src/platform/node-file-system.ts';
import { openDatabase } from '../../src/platform/sqlite.ts';
import { createLocks } from '../../src/platform/sqlite-locks.ts';

// private-files.ts HOME UMASK: makes every kind of file under that umask and prints the modes while all are open.
const [home = '', umask = ''] = process.argv.slice(2);
process.umask(Number.parseInt(umask, 8));
const fs = createFileSystem();
const database = openDatabase(join(home, 'a/b/catalog.db'), fs);
database.exec('CREATE TABLE t (x)');
const locks = createLocks(join(home, 'locks'), fs);
const holds = [locks.tryAcquire('one', 'exclusive'), locks.tryAcquire('two', 'shared')];
durableWrite(fs, join(home, 'a/b/file'), Buffer.from('x'));
const modes = readdirSync(home, { recursive: true, encoding: 'utf8' })
  .sort()
  .map((name) => [name, (statSync(join(home, name)).mode & 0o7777).toString(8)]);
process.stdout.write(
  JSON.stringify(Object.fromEntries([['', (statSync(home).mode & 0o7777).toString(8)], ...modes])),
);
for (const hold of holds) hold?.[Symbol.dispose]();
