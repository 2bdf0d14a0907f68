/** A line of a file as bytes in a latin1 string, its line end included (the last one may have none). */
export type Line = string;

export interface Hunk {
  /** first line it covers in the old file, from 1; where it covers none, the line after which it inserts */
  readonly oldStart: number;
  readonly oldLines: readonly Line[];
  readonly newLines: readonly Line[];
  /** where the hunk stood in the patch, from 1 */
  readonly patchLine: number;
}

/** What a patch does to one file. Paths as they stand in the patch, prefixes stripped. */
export interface FilePatch {
  readonly action: 'modify' | 'create' | 'delete' | 'rename' | 'copy';
  /** undefined for `create` */
  readonly from: string | undefined;
  /** undefined for `delete` */
  readonly to: string | undefined;
  /** the executable bit; undefined leaves it */
  readonly executable: boolean | undefined;
  readonly hunks: readonly Hunk[];
}

/** Splits bytes into lines. */
export function linesOf(bytes: Buffer): readonly Line[] {
  return bytes.toString('latin1').match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

export function bytesOf(lines: readonly Line[]): Buffer {
  return Buffer.from(lines.join(''), 'latin1');
}
