import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { mustRun } from '../../scripts/run-command.ts';

/** Directories that Waymark prunes; under another name both sides store what is in them. */
const PRUNED = new Set(['node_modules', 'target', 'dist', 'build', '.next', '__pycache__', 'venv', '.venv']);

/** Fetches tarballs with `npm pack` and unpacks each into a directory of its own below `directory`. */
export function unpackPackages(specifiers: readonly string[], directory: string): void {
  const downloads = mkdtempSync(`${directory}.tarballs-`);
  try {
    for (const specifier of specifiers) {
      const { stdout } = mustRun('npm', ['pack', '--silent', '--ignore-scripts', specifier], {
        cwd: downloads,
      });
      const tarball = join(downloads, stdout.trim());
      const target = join(directory, specifier.replace('/', '-').replaceAll('@', ''));
      mkdirSync(target);
      mustRun('tar', ['-xzf', tarball, '-C', target, '--strip-components=1', '--no-same-owner', '-m'], {
        cwd: downloads,
      });
    }
    renamePruned(directory);
  } finally {
    rmSync(downloads, { recursive: true, force: true });
  }
}

function renamePruned(root: string): void {
  const directories = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  // deepest first, so that no path is renamed under a later one
  for (const { parentPath, name } of directories.reverse()) {
    if (PRUNED.has(name)) renameSync(join(parentPath, name), join(parentPath, `${name}-`));
  }
}
