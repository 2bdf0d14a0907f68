const FOUNDATION = ['domain', 'platform'];
const IO = [...FOUNDATION, 'workspace', 'stores', 'catalog', 'config'];
const CHANGES = [...IO, 'restore', 'worktree'];
const LIBRARY = [...CHANGES, 'checkpoints', 'runs', 'plans'];

/**
 * The layers of `src/` and what each may import, beside itself. Folders that stand side by side in the design do not
 * import each other. `index` is every file directly in `src/`: the public API and the composition root.
 * `workers` has the entries of the threads.
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
  workers: [...FOUNDATION, 'workspace', 'restore'],
};

/** Stands for the files directly in a folder. */
export const OWN = '.';

/**
 * Folders whose own folders are in order: each imports only those of the steps before its own. Those of one step do not import each
 * other. Tests are free of it.
 */
export const FOLDERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  stores: [['entry-tree'], ['manifest'], [OWN], ['cas', 'shadow-git', 'memory']],
  'stores/cas': [['packs'], ['manifests'], ['collection'], [OWN]],
  'stores/shadow-git': [['repository'], ['records'], ['objects'], ['capture'], ['collection'], [OWN]],
  restore: [['plan'], ['apply'], ['journal'], ['recover'], [OWN]],
  worktree: [['merge', 'repository'], ['record'], ['create'], ['seed'], ['list'], ['remove'], [OWN]],
  checkpoints: [
    ['api'],
    ['workspace'],
    ['history'],
    ['retention'],
    ['sessions'],
    ['capture'],
    ['diff'],
    ['restore'],
    ['undo', 'stores'],
    [OWN],
  ],
  plans: [
    ['document', 'patch'],
    ['records'],
    ['checkpoints'],
    ['sandbox', 'tools'],
    ['rollback'],
    ['executor'],
    [OWN],
  ],
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
  worker_threads: {
    layers: ['platform', 'workspace', 'workers'],
    reason: 'only platform/worker.ts starts threads',
  },
  cluster: { layers: ['platform'], reason: 'only platform/ spawns processes' },
  'fs/promises': { layers: ['platform'], reason: 'only platform/ writes files; sync calls are faster' },
  sqlite: { layers: ['platform'], reason: 'databases are opened by platform/sqlite.ts' },
};
