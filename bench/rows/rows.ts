import { CAPTURE_ROWS } from './capture-rows.ts';
import { RESTORE_ROWS } from './restore-rows.ts';
import type { Row } from './row.ts';
import { SPACE_ROWS } from './space-rows.ts';
import { START_ROWS } from './start-rows.ts';

/** The table, in its order. */
export const ROWS: readonly Row[] = [...CAPTURE_ROWS, ...RESTORE_ROWS, ...SPACE_ROWS, ...START_ROWS];
