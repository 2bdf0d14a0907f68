const HEAD_BYTES = 8;

/** Strings behind each other in one text. */
export interface StringSection {
  readonly count: number;
  at(index: number): string;
}

export function sectionOf(strings: readonly string[]): StringSection {
  return { count: strings.length, at: (index) => strings[index] as string };
}

/** Bytes of the section that {@link writeStrings} writes. */
export function stringsBytes(strings: readonly string[]): number {
  const text = strings.join('');
  return HEAD_BYTES + strings.length * 4 + text.length * (isWide(text) ? 2 : 1);
}

/**
 * Writes strings as one section of exactly {@link stringsBytes}: encoding u32 (0: one byte per character, 1: UTF-16), count u32, end offsets in
 * characters u32 each, text. UTF-16 keeps the lone surrogates that stand for bytes which are no UTF-8. The section starts at a multiple of 4.
 */
export function writeStrings(strings: readonly string[], section: Buffer<ArrayBufferLike>): void {
  const text = strings.join('');
  const wide = isWide(text);
  const head = new Uint32Array(section.buffer, section.byteOffset, 2 + strings.length);
  head[0] = wide ? 1 : 0;
  head[1] = strings.length;
  let end = 0;
  for (let at = 0; at < strings.length; at += 1) {
    end += (strings[at] as string).length;
    head[at + 2] = end;
  }
  section.write(text, HEAD_BYTES + strings.length * 4, wide ? 'utf16le' : 'latin1');
}

/** Reads what {@link writeStrings} wrote; the section must stay as it is. */
export function readStrings(section: Buffer<ArrayBufferLike>): StringSection {
  const [encoding = 0, count = 0] = new Uint32Array(section.buffer, section.byteOffset, 2);
  const ends = new Uint32Array(section.buffer, section.byteOffset + HEAD_BYTES, count);
  const text = section.toString(encoding === 1 ? 'utf16le' : 'latin1', HEAD_BYTES + count * 4);
  return {
    count,
    at: (index) => text.slice(index === 0 ? 0 : (ends[index - 1] as number), ends[index] as number),
  };
}

function isWide(text: string): boolean {
  return /[\u0100-\uffff]/.test(text);
}
