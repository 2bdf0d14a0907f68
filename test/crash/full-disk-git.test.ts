import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { BIN, cliSandbox } from '../support/cli-sandbox.ts';
import { smallDisk } from '../support/small-disk.ts';

/** KiB that are left: from too few for the first file of a store to too few for the content. */
const LEFT = [240, 262, 266, 270, 274, 278, 290, 310, 330, 350, 370, 400, 800];

const SCRIPT = `
disk=$1; shift
for left in ${LEFT.join(' ')}; do
  rm -rf "$disk/home" "$disk/fill"
  free=$(df -k --output=avail "$disk" | tail -1)
  dd if=/dev/zero of="$disk/fill" bs=1k count=$((free - left)) 2>/dev/null
  WAYMARK_HOME="$disk/home" "$@" | tr -d '\\n'
  echo
done
`;

test('CR-09: the first checkpoint of a git store on a disk that is nearly full gives NO_SPACE', () => {
  const disk = smallDisk('4m');
  if (disk === undefined) return;
  using _disk = disk;
  const { work, env, write } = cliSandbox();
  write('big', Buffer.from(Array.from({ length: 1_500_000 }, (_, n) => (n * n * 2_654_435_761) >>> 13)));
  const [program = '', ...args] = disk.wrapper;
  const create = [process.execPath, BIN, 'checkpoints', 'create', '--store', 'git', '-f', 'json'];
  const { stdout } = spawnSync(program, [...args, 'bash', '-c', SCRIPT, 'bash', disk.path, ...create], {
    cwd: work,
    env: env as NodeJS.ProcessEnv,
    encoding: 'utf8',
  });
  const outcomes = stdout.trim().split('\n');
  expect(outcomes.map((text) => JSON.parse(text).error?.code)).toEqual(LEFT.map(() => 'NO_SPACE'));
});
