import { chmodSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the bytes of a content that does not compress lie in a home: engines store such bytes as they are. */
export interface StoredPlace {
  readonly file: string;
  /** of the content's middle */
  readonly offset: number;
}

/** Every place below `directory` that holds the middle of `content`. */
export function placesOf(directory: string, content: Buffer): readonly StoredPlace[] {
  const middle = content.subarray(content.length >>> 1, (content.length >>> 1) + 32);
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    const file = join(directory, name);
    if (!lstatSync(file).isFile()) return [];
    const offset = readFileSync(file).indexOf(middle);
    return offset < 0 ? [] : [{ file, offset }];
  });
}

/** Flips one byte of a stored content. */
export function damageContent(directory: string, content: Buffer): StoredPlace {
  const [place] = placesOf(directory, content);
  if (place === undefined) throw new Error('The content is not stored');
  flipByte(place.file, place.offset);
  return place;
}

export function flipByte(file: string, offset: number): void {
  const bytes = readFileSync(file);
  bytes[offset] = (bytes[offset] ?? 0) ^ 0x5a;
  chmodSync(file, 0o600);
  writeFileSync(file, bytes);
}
