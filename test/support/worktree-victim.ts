import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openWaymark } from '../../src/index.ts';

// worktree-victim.ts OPTIONS WORKSPACE WHAT N: does WHAT to run `fix` and kills itself right before the changing call number N (from 0).
const [options = '', directory = '', what = '', number = ''] = process.argv.slice(2);
let armed = false;
let seen = 0;
const waymark = await openWaymark({
  ...JSON.parse(options),
  stepHook: () => {
    if (!armed) return;
    if (seen === Number(number)) process.kill(process.pid, 'SIGKILL');
    seen += 1;
  },
});
const workspace = await waymark.openWorkspace(directory);
armed = true;
if (what === 'apply') await workspace.worktreeApply('fix', { confirm: 'always' });
else if (what === 'remove') await workspace.worktreeRemove('fix', { force: true });
else {
  await workspace.runInWorktree(
    { name: 'fix', withChanges: true, session: 's' },
    async ({ worktree, failed }) => {
      writeFileSync(join(worktree.path, 'new'), 'new\n');
      if (what === 'fail') failed();
    },
  );
}
armed = false;
process.stdout.write(String(seen));
await waymark[Symbol.asyncDispose]();
