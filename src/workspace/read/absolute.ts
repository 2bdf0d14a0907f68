import type { RelPath } from '../../domain/rel-path.ts';

/** The absolute path of something in a workspace; `''` is the root itself. */
export function absoluteOf(root: string, path: RelPath | ''): string {
  if (path === '') return root;
  return root === '/' ? `/${path}` : `${root}/${path}`;
}
