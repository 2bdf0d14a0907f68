#!/usr/bin/env node
// Starts on any Node that knows ES modules: nothing newer is imported before the version is known. Nor is node:fs: as an ES module it costs 6 ms.
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NEEDED_NODE = 24;
const packageRoot = fileURLToPath(new URL('../../', import.meta.url));

if (process.platform === 'win32') {
  refuse('waymark runs on Linux and macOS, not on Windows (it does run inside WSL)');
} else if (Number.parseInt(process.versions.node, 10) < NEEDED_NODE) {
  await restart();
} else if (isVersionRequest(process.argv)) {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') refuse(`cannot write output: ${error.message}`);
  });
  process.stdout.write(`${packageVersion()}\n`);
} else {
  module.enableCompileCache(compileCache());
  const { main } = await import('./main.ts');
  await main(process, packageVersion());
}

function refuse(message: string): void {
  process.stderr.write(`waymark: ${message}\n`);
  process.exitCode = 1;
}

/** A checkout brings its own Node. */
async function restart(): Promise<void> {
  const { bundledNode, RESTARTED_AS, runUnderNode } = await import('../platform/bundled-node.ts');
  const node = bundledNode(packageRoot);
  if (node === undefined || process.argv0 === RESTARTED_AS) {
    refuse(`needs Node ${NEEDED_NODE} or newer; this is ${process.version} (${process.execPath})`);
    return;
  }
  const { exitCode, signal } = await runUnderNode(node, [
    fileURLToPath(import.meta.url),
    ...process.argv.slice(2),
  ]);
  if (signal !== null) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
  process.exitCode = exitCode ?? 1;
}

function isVersionRequest(argv: readonly string[]): boolean {
  return argv.length === 3 && (argv[2] === '--version' || argv[2] === '-V');
}

function packageVersion(): string {
  const require = module.createRequire(import.meta.url);
  return (require(join(packageRoot, 'package.json')) as { readonly version: string }).version;
}

/** Compiled code of our own is kept below the user's own directory: what lies in a shared /tmp could be anybody's. */
function compileCache(): string {
  const base =
    process.env['XDG_CACHE_HOME'] ||
    join(homedir(), process.platform === 'darwin' ? join('Library', 'Caches') : '.cache');
  return join(base, 'waymark', 'compiled');
}
