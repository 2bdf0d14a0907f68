import { join } from 'node:path';
import { replaceFile } from '../../../platform/replace-file.ts';
import type { ShadowContext } from '../repository/shadow-context.ts';
import { TABLE_NAME } from '../repository/shadow-layout.ts';
import type { CheckpointRef } from './checkpoint-refs.ts';

/** The head of `checkpoint-manifest.md`, as seed 002 has it. */
export const EMPTY_TABLE =
  '| Hash     | Timestamp           | Reason              | Source       |\n' +
  '|----------|---------------------|----------------------|--------------|\n';

/** The message of a checkpoint's commit: `<reason> | <timestamp> | <source>`. */
export function commitMessage(reason: string, createdAt: string, source: string): string {
  return `${reason} | ${tableTime(createdAt)} | ${source}`;
}

/** `YYYY-MM-DD HH:MM:SS`, UTC. */
function tableTime(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}

/** Renders the table, newest first. A commit's message holds the cells of its row; one that can't be read has none. */
export function renderTable(checkpoints: readonly CheckpointRef[]): string {
  const rows = checkpoints.flatMap(({ id, commit, message }) => {
    if (message === undefined) return [];
    const [reason = '', time = '', source = ''] = message.split('|').map((cell) => cell.trim());
    return [
      { id, row: `| ${commit.slice(0, 8)} | ${time} | ${reason.padEnd(19)} | ${source.padEnd(12)} |\n` },
    ];
  });
  rows.sort((a, b) => (a.id < b.id ? 1 : -1));
  return EMPTY_TABLE + rows.map(({ row }) => row).join('');
}

/** Replaces the table beside the repository. It is not flushed: the refs say the same, and the next capture writes it again. */
export function writeTable(context: ShadowContext, checkpoints: readonly CheckpointRef[]): void {
  replaceFile(context.fs, join(context.gitDir, TABLE_NAME), Buffer.from(renderTable(checkpoints)));
}
