import { DEFAULT_LIMITS } from '../domain/rules.ts';
import { readers, type SettingReader } from './setting-readers.ts';
import { TRIGGERS } from './settings.ts';

/** One key of `waymark.toml`: how its value is read, its default, and whether it needs trust. */
export interface SettingKey {
  /** dotted, as in the file: `limits.max_files` */
  readonly key: string;
  readonly read: SettingReader;
  readonly standard: unknown;
  /** Counts from the user's file, the environment or a trusted workspace file only. */
  readonly needsTrust: boolean;
}

const DAY_MS = 86_400_000;
const MAX_BYTES = Number.MAX_SAFE_INTEGER;

/** Every fixed key; `agents.<name>` comes on top. Defaults: design section 10. */
export const SETTING_KEYS: readonly SettingKey[] = [
  setting('store.engine', readers.oneOf(['cas', 'git']), 'cas'),
  setting('store.git.keep', readers.integer(1, 100_000), 50),
  setting('limits.max_file_bytes', readers.size(1, MAX_BYTES), DEFAULT_LIMITS.maxFileBytes),
  setting('limits.max_total_bytes', readers.size(1, MAX_BYTES), DEFAULT_LIMITS.maxTotalBytes),
  setting('limits.max_files', readers.integer(1, 100_000_000), DEFAULT_LIMITS.maxFiles),
  setting('scope.include', readers.patterns(), []),
  setting('scope.exclude', readers.patterns(), []),
  setting('retention.keep', readers.integer(1, 100_000), 20),
  setting('retention.max_age', readers.duration(1000, 100_000 * DAY_MS), 30 * DAY_MS),
  setting('retention.max_store_bytes', readers.size(1, MAX_BYTES), 5 * 1024 ** 3),
  setting('core.checkpoints.auto_create_on', readers.someOf(TRIGGERS), TRIGGERS),
  setting('core.checkpoints.max_checkpoints', readers.integer(1, 100), 50),
  setting('core.checkpoints.auto_prune', readers.boolean(), true),
  { ...setting('restore.verify', readers.command(), undefined), needsTrust: true },
  { ...setting('worktree.setup', readers.command(), undefined), needsTrust: true },
];

/** `[agents]` holds one command line by name. */
export const AGENTS_TABLE = 'agents';

/** The variable that overrides a key: `limits.max_file_bytes` is `WAYMARK_LIMITS_MAX_FILE_BYTES`. */
export function variableOf(key: string): string {
  return `WAYMARK_${key.replaceAll('.', '_').toUpperCase()}`;
}

function setting(key: string, read: SettingReader, standard: unknown): SettingKey {
  return { key, read, standard, needsTrust: false };
}
