import { WaymarkError } from './errors.ts';

declare const brand: unique symbol;
/**
 * A path below the workspace root: `/`-separated, no leading slash, no empty, `.` or `..` component, no NUL.
 *
 * Names are byte-exact: a name that is valid UTF-8 is that string; every byte that is not becomes a lone low surrogate
 * U+DC80…U+DCFF (Python's "surrogateescape"), so the mapping is one to one and no look-alike can arise.
 * Paths sort by UTF-16 code unit (`<`), everywhere.
 */
export type RelPath = string & { readonly [brand]: 'RelPath' };

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes the bytes of a name or link target; see {@link RelPath} for the mapping. */
export function decodeName(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return decodeEscaping(bytes);
  }
}

function decodeEscaping(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at);
    if (length === 0) {
      text += String.fromCharCode(0xdc00 + (bytes[at] ?? 0));
      at += 1;
    } else {
      text += strictUtf8.decode(bytes.subarray(at, at + length));
      at += length;
    }
  }
  return text;
}

/** Length of the valid UTF-8 sequence that starts at `at`, or 0. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  const length =
    first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  try {
    strictUtf8.decode(bytes.subarray(at, at + length));
    return length;
  } catch {
    return 0;
  }
}

/** Encodes what {@link decodeName} made back to the same bytes. */
export function encodeName(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text, 'utf8');
  const parts: Buffer[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    parts.push(
      code >= 0xdc80 && code <= 0xdcff ? Buffer.from([code - 0xdc00]) : Buffer.from(character, 'utf8'),
    );
  }
  return Buffer.concat(parts);
}

/** The form the file system calls take: the string itself, or bytes where the name is not valid UTF-8. */
export function toFsPath(absolute: string): string | Buffer {
  return absolute.isWellFormed() ? absolute : encodeName(absolute);
}

/**
 * Checks a path that came from outside (a manifest, an argument).
 *
 * @throws WaymarkError `UNSAFE_PATH` for an absolute path, an empty, `.` or `..` component, NUL, or a component named `.git` in any case
 */
export function parseRelPath(text: string): RelPath {
  const bad =
    text === '' ||
    text.includes('\0') ||
    text
      .split('/')
      .some((part) => part === '' || part === '.' || part === '..' || part.toLowerCase() === '.git');
  if (bad)
    throw new WaymarkError('UNSAFE_PATH', `Unsafe path ${quotePath(text)}`, {
      hint: 'Paths stay below the workspace and outside .git',
    });
  return text as RelPath;
}

/** The parent directory, or `''` for a path directly below the root. */
export function parentOf(path: RelPath): RelPath | '' {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '' : (path.slice(0, slash) as RelPath);
}

export function baseNameOf(path: RelPath): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function joinRel(dir: RelPath | '', name: string): RelPath {
  return (dir === '' ? name : `${dir}/${name}`) as RelPath;
}

/** Ancestors from the top, without the path itself: `a/b/c` gives `a`, `a/b`. */
export function* ancestorsOf(path: RelPath): Generator<RelPath> {
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1))
    yield path.slice(0, at) as RelPath;
}

export function isBelow(path: string, dir: string): boolean {
  return dir === '' || (path.length > dir.length && path.startsWith(dir) && path[dir.length] === '/');
}

export function comparePaths(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const ESCAPES: Readonly<Record<number, string>> = {
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
  34: '\\"',
  92: '\\\\',
};

/** Prints a path as git does: as it is, or C-quoted where a byte is a control byte, `"`, `\` or not UTF-8. */
export function quotePath(path: string): string {
  let quoted = '';
  let needed = false;
  for (const character of path) {
    const code = character.codePointAt(0) ?? 0;
    const escaped = ESCAPES[code];
    if (escaped !== undefined) quoted += escaped;
    else if (code < 0x20 || code === 0x7f) quoted += octal(code);
    else if (code >= 0xdc80 && code <= 0xdcff) quoted += octal(code - 0xdc00);
    else {
      quoted += character;
      continue;
    }
    needed = true;
  }
  return needed ? `"${quoted}"` : path;
}

/** Reads what {@link quotePath} prints; text that is not quoted is returned as it is. @throws WaymarkError `VALIDATION_ERROR` */
export function unquotePath(text: string): string {
  if (!(text.length >= 2 && text.startsWith('"') && text.endsWith('"'))) return text;
  const bytes: Buffer[] = [];
  const body = text.slice(1, -1);
  for (let at = 0; at < body.length; ) {
    if (body[at] !== '\\') {
      const character = String.fromCodePoint(body.codePointAt(at) ?? 0);
      bytes.push(encodeName(character));
      at += character.length;
      continue;
    }
    const octalDigits = /^[0-3][0-7]{2}/.exec(body.slice(at + 1));
    const named = Object.entries(ESCAPES).find(([, escaped]) => escaped === body.slice(at, at + 2));
    if (octalDigits) {
      bytes.push(Buffer.from([Number.parseInt(octalDigits[0], 8)]));
      at += 4;
    } else if (named) {
      bytes.push(Buffer.from([Number(named[0])]));
      at += 2;
    } else throw new WaymarkError('VALIDATION_ERROR', `Bad quoted path ${text}`);
  }
  return decodeName(Buffer.concat(bytes));
}

function octal(byte: number): string {
  return `\\${byte.toString(8).padStart(3, '0')}`;
}
