import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'rolldown';

/**
 * Builds `dist/`: declarations by the compiler, JavaScript by the bundler. `waymark checkpoints list` took 188 ms of processor time to
 * start with a file for each of its 335 modules, and takes 77 ms with these few chunks; `node -e 0` takes 29 ms [measured, Node 24.21].
 */
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');

/** Without comments and blanks; names stay, so that a stack trace says where. */
const SMALL = { compress: true, mangle: false, codegen: { removeWhitespace: true } } as const;

/** Text of one byte a character is read and compiled in a third of the time: what is not ASCII becomes an escape. */
const ASCII: Plugin = {
  name: 'ascii',
  generateBundle(_, files) {
    for (const file of Object.values(files)) if (file.type === 'chunk') file.code = escaped(file.code);
  },
};

rmSync(dist, { recursive: true, force: true });
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
if (status === 0) {
  await build(bundle());
  for (const worker of readdirSync(join(root, 'src', 'workers'))) await build(threadOf(worker));
  chmodSync(join(dist, 'cli', 'bin.js'), 0o755);
}
process.exitCode = status ?? 1;

/** Dependencies of the package stay outside; what every start needs (a `devDependency`) is taken in. */
function bundle(): BuildOptions {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const outside = Object.keys(dependencies);
  return {
    cwd: root,
    input: { index: 'src/index.ts', 'cli/bin': 'src/cli/bin.ts' },
    platform: 'node',
    external: (id) => outside.some((name) => id === name || id.startsWith(`${name}/`)),
    checks: { ineffectiveDynamicImport: false },
    plugins: [ASCII],
    logLevel: 'warn',
    output: {
      dir: 'dist',
      format: 'esm',
      minify: SMALL,
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name]-[hash].js',
      codeSplitting: {
        groups: [
          // Everything needs the bundler's own helpers: elsewhere they would make the chunks import each other in a circle.
          { name: 'runtime', test: /^\0/, priority: 1 },
          { name: 'vendor', test: /node_modules/ },
          { name: 'foundation', test: /src\/(?:domain|config)\// },
          { name: 'cli', test: /src\/cli\/(?!bin\.ts|commands\/)/ },
          {
            name: 'library',
            test: /src\/(?:(?:platform(?!\/bundled-node)|workspace|stores|catalog|restore|checkpoints|runs)\/|[^/]+$)/,
          },
        ],
      },
      postBanner: ({ name, moduleIds }) => (name === 'vendor' ? licences(packagesOf(moduleIds)) : ''),
    },
  };
}

/** A thread loads one file with what it needs and nothing else: it starts beside a command that is over in a moment. */
function threadOf(worker: string): BuildOptions {
  return {
    cwd: root,
    input: `src/workers/${worker}`,
    platform: 'node',
    plugins: [ASCII],
    logLevel: 'warn',
    output: {
      dir: 'dist/workers',
      format: 'esm',
      minify: SMALL,
      entryFileNames: '[name].js',
      codeSplitting: false,
    },
  };
}

/** Its licences ask to be kept with what `vendor` contains. */
function licences(packages: readonly string[]): string {
  const texts = packages.map((name) => {
    const directory = join(root, 'node_modules', name);
    const file = readdirSync(directory).find((entry) => /^licen[cs]e/i.test(entry));
    const { license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as {
      readonly license: string;
    };
    return `${name}\n${file === undefined ? license : readFileSync(join(directory, file), 'utf8').trim()}`;
  });
  return `/*!\n${texts.join('\n\n---\n\n').replaceAll('*/', '* /')}\n*/\n`;
}

/** The packages that modules (paths below `node_modules`) belong to. */
function packagesOf(modules: readonly string[]): readonly string[] {
  const names = modules.map(
    (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(path)?.[1],
  );
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}

/** Outside strings, templates and patterns, source and dependencies have no such characters but in comments, which are gone. */
function escaped(code: string): string {
  return code.replaceAll(
    /[^\0-\x7f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
