import type { ContentHash } from '../../domain/ids.ts';
import type { FrozenRules } from '../../domain/rules.ts';
import type { IndexMemory } from '../scope/tracked-files.ts';
import type { StatCache } from '../stat-cache.ts';
import type { CacheBytes } from '../stat-cache-codec.ts';
import type { TreeTable } from './tree-table.ts';

/** What a cache holds besides its rows. */
export interface CacheMeta {
  readonly rules: FrozenRules;
  /** what the capture took whatever ignore rules and limits said */
  readonly forced: readonly string[];
  readonly indexes: readonly IndexMemory[];
  /** our time when the capture was written, ms */
  readonly finishedMs: number;
}

/** The one implementation of {@link StatCache}: the base snapshot's nodes with their stats, as a table. */
export class TableCache implements StatCache {
  readonly root: ContentHash;
  readonly table: TreeTable;
  readonly meta: CacheMeta;
  /** the cache as it is kept in its file, once it was */
  readonly bytes: CacheBytes | undefined;

  #spare: TreeTable | undefined;

  constructor(root: ContentHash, table: TreeTable, meta: CacheMeta, bytes?: CacheBytes) {
    this.root = root;
    this.table = table;
    this.meta = meta;
    this.bytes = bytes;
  }

  /** A copy of the table to walk on. */
  startWalk(): TreeTable {
    const spare = this.#spare;
    this.#spare = undefined;
    return this.table.forWalk(spare);
  }

  /** Keeps the memory of a walked table that nobody needs any more for the next walk. */
  takeBack(walked: TreeTable): void {
    this.#spare = walked;
  }
}
