import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkFile } from './layers/check-file.ts';

/** Checks every source file below `<root>/src`; `root` is the argument, else the current directory. */
const root = process.argv[2] ?? '.';
const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .sort();
const problems = files.flatMap((path) =>
  checkFile(path, readFileSync(join(root, 'src', path), 'utf8')).map(
    ({ line, message }) => `src/${path}:${line}: ${message}`,
  ),
);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.stdout.write(
  problems.length === 0
    ? `Layers: ${files.length} files, no violation\n`
    : `Layers: ${problems.length} violations\n`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
