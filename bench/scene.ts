import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mustRun } from '../scripts/run-command.ts';
import type { Corpus } from './corpora/corpus.ts';
import { listFiles } from './measure/list-files.ts';
import type { Engine } from './rows/row.ts';
import { benchEnvironment } from './sides/environment.ts';
import { createGitSide, type GitSide } from './sides/git-side.ts';
import { openWaymarkSide, type WaymarkSide } from './sides/waymark-side.ts';

/** A copy of a corpus whose first state every side has stored: where the rows are measured. */
export interface Scene extends AsyncDisposable {
  readonly corpus: Corpus;
  readonly tree: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly git: GitSide;
  /** the commit with the first state */
  readonly firstCommit: string;
  /** The library, opened now or since a while. */
  waymark(engine: Engine): Promise<WaymarkSide>;
  /** Closes the library, so that other processes have the home to themselves, and gives the home. */
  closedHome(engine: Engine): Promise<string>;
  /** the checkpoint with the first state */
  firstCheckpoint(engine: Engine): string;
  /** Appends a line, never seen before, to so many small files, spread over the tree and always the same. */
  change(count: number): void;
  /**
   * A path for something that begins empty. It stays until the scene ends: where many files were just removed, ext4 takes up to ten times as long to
   * create as many, for half a minute, whoever does it.
   */
  scratch(): string;
  /** Waits until earlier writes are on the disk, so that nobody pays for another's. */
  settle(): void;
}

export interface SceneOptions {
  /** where everything lies; made */
  readonly place: string;
  /** Removes all of it at the end: for memory, which is small. On a disk whoever comes next would pay for it. */
  readonly removes: boolean;
  readonly engines: readonly Engine[];
  /** checkpoints kept per session and git store; undefined: the default */
  readonly keep: number | undefined;
}

/** bytes; what {@link Scene.change} picks from */
const SMALL_FILE = 16 * 1024;

/** Copies the corpus and stores it on every side. @throws Error where the sides did not store the same files */
export async function prepareScene(corpus: Corpus, options: SceneOptions): Promise<Scene> {
  const { engines, keep } = options;
  const place = join(options.place, corpus.name);
  mkdirSync(place, { recursive: true });
  const environment = benchEnvironment(place, keep);
  const tree = join(place, 'tree');
  cpSync(corpus.directory, tree, { recursive: true });
  const settle = () => void mustRun('sync', [], { cwd: place });
  settle();
  const git = createGitSide(join(place, 'shadow.git'), tree, environment);
  const firstCommit = storeWithGit(corpus, git);

  const homeOf = (engine: Engine) => join(place, `home-${engine}`);
  const open = new Map<Engine, WaymarkSide>();
  const waymark = async (engine: Engine) => {
    const side = open.get(engine) ?? (await openWaymarkSide(homeOf(engine), tree, engine, environment));
    open.set(engine, side);
    return side;
  };
  const close = async (engine: Engine) => {
    await open.get(engine)?.[Symbol.asyncDispose]();
    open.delete(engine);
  };
  const first = new Map<Engine, string>();
  for (const engine of engines) first.set(engine, await storeWithWaymark(corpus, await waymark(engine)));

  const small = listFiles(tree).filter((path) => statSync(path).size <= SMALL_FILE);
  let changes = 0;
  let scratches = 0;
  return {
    corpus,
    tree,
    environment,
    git,
    firstCommit,
    waymark,
    async closedHome(engine) {
      await close(engine);
      return homeOf(engine);
    },
    firstCheckpoint: (engine) => first.get(engine) ?? '',
    change(count) {
      changes += 1;
      for (let at = 0; at < count; at++) {
        const path = small[Math.floor(((at + 0.5) * small.length) / count)] ?? '';
        writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.from(`// change ${changes}\n`)]));
      }
    },
    scratch: () => join(place, `scratch-${++scratches}`),
    settle,
    async [Symbol.asyncDispose]() {
      for (const engine of engines) await close(engine);
      if (options.removes) rmSync(place, { recursive: true, force: true });
    },
  };
}

function storeWithGit(corpus: Corpus, side: GitSide): string {
  side.addAll();
  const commit = side.commit();
  expectFiles('git', side.storedFiles(commit), corpus);
  return commit;
}

async function storeWithWaymark(corpus: Corpus, { engine, workspace, create }: WaymarkSide): Promise<string> {
  const { checkpoint } = await create();
  const { entries, problems } = await workspace.showCheckpoint(checkpoint.id);
  if (problems.length > 0) throw new Error(`The ${engine} engine: ${problems[0]?.message}`);
  const files = entries.filter(([, node]) => node.kind === 'file' || node.kind === 'symlink');
  expectFiles(`the ${engine} engine`, files.length, corpus);
  // restores go back to it however many checkpoints follow
  await workspace.pin(checkpoint.id, true);
  return checkpoint.id;
}

function expectFiles(side: string, stored: number, { name, files }: Corpus): void {
  if (stored !== files) throw new Error(`Of the ${files} files of "${name}", ${side} stored ${stored}`);
}
