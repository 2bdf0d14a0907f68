import { RETENTION_PAUSED } from '../retention/keep-input.ts';
import type { HomeContext } from '../workspace/home-context.ts';
import { asCheckpoint } from './doctor.ts';

/**
 * Fills an empty catalog from what the stores hold. Nothing is dropped afterwards until the user prunes: what was once
 * dropped on purpose can't be told from what was not.
 */
export async function rebuildCatalog(context: HomeContext): Promise<readonly string[]> {
  const problems: string[] = [];
  let adopted = 0;
  for (const store of context.existingStores()) {
    const found = await store.manifests();
    context.catalog.adopt(found.manifests.map(asCheckpoint));
    adopted += found.manifests.length;
    problems.push(...found.problems.map(({ where, message }) => `${where}: ${message}`));
  }
  if (adopted > 0) context.catalog.setNote(RETENTION_PAUSED, 'the catalog was rebuilt');
  return problems;
}
