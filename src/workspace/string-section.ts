/**
 * Strings as one section: encoding u32 (0: one byte per character, 1: UTF-16), count u32, end offsets in characters u32 each, text.
 * UTF-16 keeps the lone surrogates that stand for bytes which are no UTF-8.
 */
export function writeStrings(strings: readonly string[]): Buffer {
  const text = strings.join('');
  const isWide = /[\u0100-\uffff]/.test(text);
  const head = new Uint32Array(2 + strings.length);
  head[0] = isWide ? 1 : 0;
  head[1] = strings.length;
  let end = 0;
  strings.forEach((string, at) => {
    end += string.length;
    head[at + 2] = end;
  });
  return Buffer.concat([Buffer.from(head.buffer), Buffer.from(text, isWide ? 'utf16le' : 'latin1')]);
}

/** Reads what {@link writeStrings} wrote. */
export function readStrings(section: Buffer): readonly string[] {
  const count = section.readUInt32LE(4);
  const text = section.toString(section.readUInt32LE(0) === 1 ? 'utf16le' : 'latin1', 8 + count * 4);
  const strings: string[] = new Array(count);
  let start = 0;
  for (let at = 0; at < count; at += 1) {
    const end = section.readUInt32LE(8 + at * 4);
    strings[at] = text.slice(start, end);
    start = end;
  }
  return strings;
}
