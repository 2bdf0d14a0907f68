import { WaymarkError } from '../../domain/errors.ts';
import type { PathChange } from '../../domain/operation.ts';

/** Packs changes for a column: JSON, compressed since an operation may have touched every path of a workspace. */
export function encodeChanges(changes: readonly PathChange[]): Uint8Array {
  const json = JSON.stringify(changes, (key, value) => (key === 'mtimeNs' ? String(value) : value));
  return zlib().zstdCompressSync(json);
}

/** @throws WaymarkError `CATALOG_CORRUPT` */
export function decodeChanges(bytes: Uint8Array): readonly PathChange[] {
  try {
    const stored: readonly Partial<PathChange>[] = JSON.parse(
      zlib().zstdDecompressSync(bytes).toString(),
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

/** Lists come from the catalog, too, and need none of the 3 to 6 ms that loading it takes. */
function zlib(): typeof import('node:zlib') {
  return process.getBuiltinModule('node:zlib');
}
