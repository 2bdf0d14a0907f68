import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { WaymarkError } from '../../domain/errors.ts';
import type { PathChange } from '../../domain/operation.ts';

/** Packs changes for a column: JSON, compressed since an operation may have touched every path of a workspace. */
export function encodeChanges(changes: readonly PathChange[]): Uint8Array {
  const json = JSON.stringify(changes, (key, value) => (key === 'mtimeNs' ? String(value) : value));
  return zstdCompressSync(json);
}

/** @throws WaymarkError `CATALOG_CORRUPT` */
export function decodeChanges(bytes: Uint8Array): readonly PathChange[] {
  try {
    const stored: readonly Partial<PathChange>[] = JSON.parse(
      zstdDecompressSync(bytes).toString(),
      (key, value) => (key === 'mtimeNs' ? BigInt(value) : value),
    );
    return stored.map(({ path, before, after }) => ({ path, before, after }) as PathChange);
  } catch (cause) {
    throw new WaymarkError(
      'CATALOG_CORRUPT',
      "The catalog is damaged: an operation's changes cannot be read",
      {
        hint: 'Rebuild it from the manifests: waymark doctor --rebuild-catalog',
        cause,
      },
    );
  }
}
