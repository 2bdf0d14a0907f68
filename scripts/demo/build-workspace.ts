import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

/** Installed packages that make the demo's project, in this order until there are enough files. */
const PACKAGES = [
  'zod',
  'yaml',
  'diff',
  'typescript',
  'vitest',
  '@types/node',
  'execa',
  'commander',
  'fast-check',
  'undici-types',
  'pure-rand',
  'postcss',
  'rolldown',
  'vite',
  'node/include',
];
const ENOUGH = 2_500;
const LARGEST = 1024 ** 2;
/** Directory names that no checkpoint looks into; the demo's copies get others. */
const RENAMED: Readonly<Record<string, string>> = {
  dist: 'output',
  build: 'made',
  target: 'goal',
  node_modules: 'modules',
};

/** Makes a project of real files out of the installed packages: text, binaries, links, executables, an ignored directory. Gives the number of files. */
export function buildWorkspace(installed: string, workspace: string): number {
  let files = 0;
  for (const name of PACKAGES) {
    const source = path.join(installed, name);
    if (files >= ENOUGH) break;
    if (lstatSync(source, { throwIfNoEntry: false })?.isDirectory()) {
      files += copyTree(source, path.join(workspace, 'packages', name.replace('/', '-')));
    }
  }
  mkdirSync(path.join(workspace, 'bin'));
  mkdirSync(path.join(workspace, 'assets'));
  mkdirSync(path.join(workspace, 'spare'), { mode: 0o750 });
  mkdirSync(path.join(workspace, 'cache'));
  for (const tool of ['start', 'stop', 'status']) {
    const file = path.join(workspace, 'bin', tool);
    writeFileSync(file, `#!/bin/sh\necho ${tool}\n`);
    chmodSync(file, 0o755);
  }
  writeFileSync(path.join(workspace, 'assets', 'engine.bin'), beginningOf(process.execPath, 256 * 1024));
  writeFileSync(path.join(workspace, 'README.md'), '# A project\n\nThe only copy of a day of work.\n');
  writeFileSync(path.join(workspace, 'LICENSE'), 'MIT\n');
  writeFileSync(path.join(workspace, '.gitignore'), 'cache/\n');
  for (let n = 0; n < 20; n += 1) writeFileSync(path.join(workspace, 'cache', `entry-${n}`), `cached ${n}\n`);
  symlinkSync('packages/zod', path.join(workspace, 'latest'));
  symlinkSync('../README.md', path.join(workspace, 'bin', 'help'));
  return files + 6;
}

function copyTree(from: string, to: string): number {
  mkdirSync(to, { recursive: true });
  let files = 0;
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = path.join(from, entry.name);
    const target = path.join(to, RENAMED[entry.name] ?? entry.name);
    if (entry.isDirectory()) files += copyTree(source, target);
    else if (entry.isFile() && lstatSync(source).size <= LARGEST) {
      copyFileSync(source, target);
      files += 1;
    }
  }
  return files;
}

function beginningOf(file: string, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  readSync(openSync(file, 'r'), buffer, 0, bytes, 0);
  return buffer;
}
