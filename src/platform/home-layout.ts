import { join } from 'node:path';

/** Where things lie below `WAYMARK_HOME`; all paths absolute where `home` is. */
export interface HomeLayout {
  readonly home: string;
  readonly catalog: string;
  readonly checkpoints: string;
  readonly blobs: string;
  readonly projects: string;
  readonly statCache: string;
  readonly journal: string;
  readonly locks: string;
}

/** Names the parts of a home directory. Creates nothing. */
export function homeLayout(home: string): HomeLayout {
  return {
    home,
    catalog: join(home, 'catalog.db'),
    checkpoints: join(home, 'checkpoints'),
    blobs: join(home, 'checkpoints', 'blobs'),
    projects: join(home, 'projects'),
    statCache: join(home, 'stat-cache'),
    journal: join(home, 'journal'),
    locks: join(home, 'locks'),
  };
}
