import { initial } from './001-initial.ts';
import { plans } from './002-plans.ts';
import { namesakes } from './003-namesakes.ts';
import type { Migration } from './migration.ts';

/** All migrations, versions counting up from 1 without a gap. */
export const MIGRATIONS: readonly Migration[] = [initial, plans, namesakes];
