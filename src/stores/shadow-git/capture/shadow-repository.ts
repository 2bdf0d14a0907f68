import { randomBytes } from 'node:crypto';
import { accessSync, constants, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { WaymarkError } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import { durableWrite, ensurePrivateDirectory, syncDirectory } from '../../../platform/durable-write.ts';
import { EMPTY_TABLE } from '../records/checkpoint-table.ts';
import { type ShadowContext, shadowGit } from '../repository/shadow-context.ts';
import { TABLE_NAME, WORKSPACE_NAME } from '../repository/shadow-layout.ts';

export type RepositoryState = 'healthy' | 'missing' | 'damaged';

/** What a person sees who runs plain git here; captures follow the scope of the checkpoint, not this file. */
const EXCLUDES = [
  '# Waymark decides what it captures; this list is for people who run git here.',
  ...[
    'node_modules/',
    '.env',
    '.env.*',
    '__pycache__/',
    '.git/',
    'venv/',
    '.venv/',
    'dist/',
    'build/',
    '.next/',
  ],
  ...['*.pyc', '.DS_Store', ''],
].join('\n');

/**
 * Asks git whether the repository is one (seed 002's health check).
 *
 * @throws WaymarkError `GIT_NOT_FOUND`; `PERMISSION_DENIED` where the directory cannot be read, which is no damage
 */
export async function checkRepository(context: ShadowContext): Promise<RepositoryState> {
  const { gitDir } = context;
  if (lstatSync(gitDir, { throwIfNoEntry: false }) === undefined) return 'missing';
  for (const path of [gitDir, join(gitDir, 'HEAD'), join(gitDir, 'config')]) {
    try {
      accessSync(path, constants.R_OK);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EACCES') continue;
      throw new WaymarkError('PERMISSION_DENIED', `Cannot read ${path}`, { cause });
    }
  }
  const signature = signatureOf(gitDir);
  if (context.health.signature === signature) return 'healthy';
  const { exitCode } = await shadowGit(context, { args: ['rev-parse', '--git-dir'], allowExitCodes: [128] });
  if (exitCode !== 0) return 'damaged';
  context.health.signature = signature;
  return 'healthy';
}

/** Takes note that HEAD was written by us. */
export function noteHealth(context: ShadowContext): void {
  context.health.signature = signatureOf(context.gitDir);
}

/** What the health check looks at. While none of it changed since git last said yes, git is not asked again. */
function signatureOf(gitDir: string): string {
  const parts = ['', 'objects', 'refs', 'HEAD', 'config'].map((name) => {
    const stats = lstatSync(join(gitDir, name), { bigint: true, throwIfNoEntry: false });
    if (stats === undefined) return `${name} gone`;
    const content = stats.isDirectory() ? '' : `${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
    return `${name} ${stats.mode} ${stats.ino} ${content}`;
  });
  return parts.join('\n');
}

/** For everything that only reads. @throws WaymarkError `STORE_CORRUPT` */
export async function repositoryExists(context: ShadowContext): Promise<boolean> {
  const state = await checkRepository(context);
  if (state === 'damaged') {
    throw new WaymarkError('STORE_CORRUPT', `Shadow repository ${context.gitDir} is damaged`, {
      hint: 'The next checkpoint moves it aside and starts a fresh one',
    });
  }
  return state === 'healthy';
}

/**
 * Makes sure that there is a healthy repository to write to. One that fails its health check twice, while git itself works, is moved aside and
 * replaced with a warning. Call under the stage lock.
 */
export async function prepareRepository(context: ShadowContext): Promise<void> {
  let state = await checkRepository(context);
  if (state === 'damaged') state = await checkRepository(context);
  if (state === 'damaged') {
    await context.git.version();
    moveAside(context);
    state = 'missing';
  }
  if (state === 'missing') await createRepository(context);
}

function moveAside(context: ShadowContext): void {
  const { fs, gitDir } = context;
  const stamp = isoTime(context.clock.now()).replaceAll(/[-:.]/g, '');
  const aside = `${gitDir}.corrupt-${stamp}-${randomBytes(3).toString('hex')}`;
  fs.rename(gitDir, aside);
  syncDirectory(fs, dirname(gitDir));
  context.warn(
    `Shadow repo was corrupt — reinitialized. Prior checkpoints are lost. The damaged repository lies in ${aside}`,
  );
}

/** Builds it under another name first, so that a kill leaves none or a whole one. */
async function createRepository(context: ShadowContext): Promise<void> {
  const { fs, git, gitDir, identity } = context;
  const parent = dirname(gitDir);
  ensurePrivateDirectory(fs, parent);
  const fresh = `${gitDir}.new-${randomBytes(6).toString('hex')}`;
  await git.run({
    // files 0600 and directories 0700 under any umask
    args: ['init', '--quiet', '--bare', '--template=', '--shared=0600', '--initial-branch=waymark'],
    gitDir: fresh,
    isolated: true,
    env: { GIT_DEFAULT_HASH: 'sha1', GIT_DEFAULT_REF_FORMAT: 'files' },
  });
  for (const directory of ['info', 'objects/pack', 'refs/heads', 'refs/waymark']) {
    ensurePrivateDirectory(fs, join(fresh, directory));
  }
  fs.chmod(fresh, 0o700);
  // Rewritten so that it is on disk before the directory has its name: git does not flush it.
  durableWrite(fs, join(fresh, 'config'), readFileSync(join(fresh, 'config')));
  durableWrite(fs, join(fresh, 'HEAD'), readFileSync(join(fresh, 'HEAD')));
  durableWrite(fs, join(fresh, 'info', 'exclude'), Buffer.from(EXCLUDES));
  durableWrite(fs, join(fresh, WORKSPACE_NAME), Buffer.from(`${JSON.stringify(identity)}\n`));
  durableWrite(fs, join(fresh, TABLE_NAME), Buffer.from(EMPTY_TABLE));
  for (const directory of readdirSync(fresh)) {
    const path = join(fresh, directory);
    if (lstatSync(path).isDirectory()) syncDirectory(fs, path);
  }
  syncDirectory(fs, fresh);
  fs.rename(fresh, gitDir);
  syncDirectory(fs, parent);
}
