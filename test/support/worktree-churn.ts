import { systemClock } from '../../src/platform/clock.ts';
import { createGit } from '../../src/platform/git-process.ts';
import { createFileSystem } from '../../src/platform/node-file-system.ts';
import { createLocks } from '../../src/platform/sqlite-locks.ts';
import { createWorktree } from '../../src/worktree/create/create-worktree.ts';
import { removeWorktree } from '../../src/worktree/remove/remove-worktree.ts';

// worktree-churn.ts REPOSITORY LOCKS [NAME ROUNDS]: creates and removes a worktree again and again; prints `done` after the rounds.
const [directory = '', locks = '', name = 'churn', rounds = '1000000'] = process.argv.slice(2);
const fs = createFileSystem();
const context = { git: createGit(process.env), fs, locks: createLocks(locks, fs), clock: systemClock };
for (let round = 0; round < Number(rounds); round += 1) {
  await createWorktree(context, { directory, name: `${name}-${round}` });
  await removeWorktree(context, { directory, name: `${name}-${round}` });
}
process.stdout.write('done\n');
