import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** How to run a script that finds a small file system of its own, mounted for it alone, at the directory given as its first argument. */
export interface SmallDisk extends Disposable {
  readonly path: string;
  /** program and arguments that come before those of the script's own process */
  readonly wrapper: readonly string[];
}

const MOUNT = 'mount -t tmpfs -o size="$1",mode=700 none "$2" && shift 2 && exec "$@"';

/** Looks for a way to mount; undefined, and said on standard output, where there is none: disks that only claim to be full (`faults.test.ts`) are left then. `size` as `mount` takes it, as in `4m`. */
export function smallDisk(size: string): SmallDisk | undefined {
  const directory = mkdtempSync(path.join(tmpdir(), 'waymark-disk-'));
  const reasons: string[] = [];
  for (const flags of ['-m', '-rm']) {
    const wrapper = ['unshare', flags, 'sh', '-c', MOUNT, 'sh', size, directory];
    const [program = '', ...args] = wrapper;
    const { status, stderr, error } = spawnSync(program, [...args, 'true'], { encoding: 'utf8' });
    if (status === 0) {
      return {
        path: directory,
        wrapper,
        [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
      };
    }
    reasons.push(`unshare ${flags}: ${error?.message ?? stderr.trim()}`);
  }
  rmSync(directory, { recursive: true, force: true });
  process.stdout.write(
    `NOT TESTED on a disk that is really full, since none can be mounted here: ${reasons.join('; ')}\n`,
  );
  return undefined;
}

/** Fills a disk but for some bytes, in whole blocks. Disposing makes room again. */
export function fillDisk(directory: string, leave = 0): Disposable {
  const filler = path.join(directory, 'filler');
  for (let size = 1 << 20; size >= 4096; size /= 2) {
    try {
      for (;;) writeFileSync(filler, Buffer.alloc(size, 1), { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
  truncateSync(filler, Math.max(0, statSync(filler).size - leave));
  return { [Symbol.dispose]: () => unlinkSync(filler) };
}
