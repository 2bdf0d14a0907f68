import type { ContentHash } from '../domain/ids.ts';

/** What the last capture of one workspace with one engine saw, with the stats that let the next one skip reading. */
export interface StatCache {
  /** root of the base snapshot's entry tree */
  readonly root: ContentHash;
}
