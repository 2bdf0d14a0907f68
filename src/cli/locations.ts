import { join, resolve } from 'node:path';
import envPaths from 'env-paths';
import { CONFIG_FILE_NAME } from '../config/config-file.ts';

/** Where this user's things lie. */
export interface Locations {
  /** `WAYMARK_HOME`, else the platform's data directory for `waymark` */
  readonly home: string;
  /** the user's `waymark.toml`, which need not exist */
  readonly userFile: string;
}

/** Finds them from the environment. A relative `WAYMARK_HOME` is relative to `cwd`. */
export function locations(environment: Readonly<Record<string, string | undefined>>, cwd: string): Locations {
  const { data, config } = envPaths('waymark', { suffix: '' });
  return {
    home: resolve(cwd, environment['WAYMARK_HOME'] || data),
    userFile: join(config, CONFIG_FILE_NAME),
  };
}
