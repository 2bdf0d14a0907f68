const FOUNDATION = ['domain', 'platform'];
const IO = [...FOUNDATION, 'workspace', 'stores', 'catalog', 'config'];
const CHANGES = [...IO, 'restore', 'worktree'];
const LIBRARY = [...CHANGES, 'checkpoints', 'runs', 'plans'];

/**
 * The layers of `src/` and what each may import, beside itself. Folders that stand side by side in the design do not
 * import each other. `index` is every file directly in `src/`: the public API and the composition root.
 */
export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  platform: ['domain'],
  workspace: FOUNDATION,
  stores: FOUNDATION,
  catalog: FOUNDATION,
  config: FOUNDATION,
  restore: IO,
  worktree: IO,
  checkpoints: CHANGES,
  runs: [...CHANGES, 'checkpoints'],
  plans: [...CHANGES, 'checkpoints', 'runs'],
  index: LIBRARY,
  cli: [...LIBRARY, 'index'],
};

/** Names of `node:fs` that only look; everything else it exports is for `platform/` alone. */
export const READING: ReadonlySet<string> = new Set([
  'accessSync',
  'closeSync',
  'constants',
  'existsSync',
  'fstatSync',
  'lstatSync',
  'opendirSync',
  'openSync',
  'readdirSync',
  'readFileSync',
  'readlinkSync',
  'readSync',
  'realpathSync',
  'statfsSync',
  'statSync',
]);

/** What only some layers may use, with the reason that is told. */
export const RESERVED: readonly {
  readonly use: RegExp;
  readonly layers: readonly string[];
  readonly reason: string;
}[] = [
  {
    use: /\bDate\.now\(|\bnew Date\(\s*\)|\bnew Date\b(?!\s*\()|\bDate\(\s*\)/,
    layers: ['platform'],
    reason: 'the clock is injected (platform/clock.ts)',
  },
  { use: /\bMath\.random\(/, layers: ['platform'], reason: 'randomness is injected (platform/ids.ts)' },
  {
    use: /\bO_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)\b/,
    layers: ['platform'],
    reason: 'only platform/ writes files',
  },
  {
    use: /\bprocess\.(?:env\b|exit\b|argv\b|stdout\.write|stderr\.write)/,
    layers: ['cli'],
    reason: 'the library reads no environment, prints nothing and never exits',
  },
  { use: /\bconsole\./, layers: [], reason: 'results go through cli/terminal.ts' },
];

/** Modules that only some layers may import. */
export const RESERVED_MODULES: Readonly<
  Record<string, { readonly layers: readonly string[]; readonly reason: string }>
> = {
  child_process: { layers: ['platform'], reason: 'only platform/ spawns processes' },
  cluster: { layers: ['platform'], reason: 'only platform/ spawns processes' },
  'fs/promises': { layers: ['platform'], reason: 'only platform/ writes files; sync calls are faster' },
  sqlite: { layers: ['platform'], reason: 'databases are opened by platform/sqlite.ts' },
};
