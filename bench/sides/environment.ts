import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Limits that leave nothing of a corpus out. */
const LIMITS = {
  WAYMARK_LIMITS_MAX_FILE_BYTES: '1GiB',
  WAYMARK_LIMITS_MAX_TOTAL_BYTES: '100GiB',
  WAYMARK_LIMITS_MAX_FILES: '10000000',
} as const;

/**
 * The environment of every process measured: a user directory of its own, so that nobody's configuration counts.
 * `keep` raises retention, for measurements of long histories.
 */
export function benchEnvironment(place: string, keep: number | undefined): NodeJS.ProcessEnv {
  const home = join(place, 'user');
  mkdirSync(home, { recursive: true });
  const retention =
    keep === undefined ? {} : { WAYMARK_RETENTION_KEEP: `${keep}`, WAYMARK_STORE_GIT_KEEP: `${keep}` };
  return { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8', ...LIMITS, ...retention };
}
