import type { Limits } from '../domain/rules.ts';

const MIB = 1024 ** 2;

/** The text of a new `waymark.toml`: everything commented but the limits, where some are given. */
export function initialConfig(limits: Limits | undefined): string {
  const lines =
    limits === undefined
      ? ['# [limits]', '# max_file_bytes = "8MiB"', '# max_total_bytes = "64MiB"', '# max_files = 50000']
      : limitLines(limits);
  return `${[
    '# Settings of Waymark for this workspace. Every key is optional; waymark status shows what counts.',
    '',
    ...lines,
    '',
    '# [scope]',
    '# include = []           # gitignore patterns of pruned directories to cover after all, e.g. "vendor/dist/"',
    '# exclude = []           # gitignore patterns to leave out',
    '',
    '# [retention]',
    '# keep = 20              # newest checkpoints per session',
    '# max_age = "30d"',
    '',
    '# [restore]              # counts after: waymark trust',
    '# verify = "npm test"',
  ].join('\n')}\n`;
}

/** A `[limits]` table. */
export function limitLines({ maxFileBytes, maxTotalBytes, maxFiles }: Limits): readonly string[] {
  return [
    '[limits]',
    `max_file_bytes = ${sizeValue(maxFileBytes)}`,
    `max_total_bytes = ${sizeValue(maxTotalBytes)}`,
    `max_files = ${maxFiles}`,
  ];
}

/** Whole MiB in words, anything else as bytes: nothing is rounded. */
function sizeValue(bytes: number): string {
  return bytes % MIB === 0 ? `"${bytes / MIB}MiB"` : String(bytes);
}
