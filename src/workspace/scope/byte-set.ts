/** 256 flags, one per byte. */
export type ByteSet = Uint8Array;

/**
 * Reads a bracket expression of git's wildcards; `at` is the `[`. Returns the set (never with `/`) and the position behind the `]`,
 * or undefined where the expression is malformed: unclosed, or with an unknown `[:class:]`.
 */
export function parseByteSet(
  pattern: string,
  at: number,
): { readonly set: ByteSet; readonly end: number } | undefined {
  const set = new Uint8Array(256);
  let position = at + 1;
  const negated = pattern[position] === '!' || pattern[position] === '^';
  if (negated) position += 1;
  /** the byte a range may start from; undefined behind a range or class */
  let low: number | undefined;
  for (let first = true; first || pattern[position] !== ']'; first = false) {
    const item = readItem(pattern, position, low);
    if (!item) return undefined;
    for (let byte = item.from; byte <= item.to; byte += 1) {
      if (!item.among || item.among(byte)) set[byte] = 1;
    }
    low = item.low;
    position = item.end;
  }
  if (negated) for (let byte = 0; byte < 256; byte += 1) set[byte] = set[byte] ? 0 : 1;
  set['/'.charCodeAt(0)] = 0;
  return { set, end: position + 1 };
}

interface Item {
  readonly from: number;
  readonly to: number;
  readonly among?: (byte: number) => boolean;
  readonly low: number | undefined;
  readonly end: number;
}

function readItem(pattern: string, at: number, low: number | undefined): Item | undefined {
  const character = pattern[at];
  if (character === undefined) return undefined;
  if (character === '-' && low !== undefined && at + 1 < pattern.length && pattern[at + 1] !== ']') {
    const high = pattern[at + 1] === '\\' ? at + 2 : at + 1;
    if (high >= pattern.length) return undefined;
    return { from: low, to: pattern.charCodeAt(high), low: undefined, end: high + 1 };
  }
  if (character === '[' && pattern[at + 1] === ':') {
    const close = pattern.indexOf(']', at + 2);
    if (close < 0) return undefined;
    if (close > at + 2 && pattern[close - 1] === ':') {
      const among = CLASSES.get(pattern.slice(at + 2, close - 1));
      return among && { from: 0, to: 255, among, low: undefined, end: close + 1 };
    }
  }
  const literal = character === '\\' ? at + 1 : at;
  if (literal >= pattern.length) return undefined;
  const code = pattern.charCodeAt(literal);
  return { from: code, to: code, low: code, end: literal + 1 };
}

function within(...ranges: readonly (readonly [number, number])[]): (byte: number) => boolean {
  return (byte) => ranges.some(([from, to]) => byte >= from && byte <= to);
}

const SPACES: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d, 0x20]);
const CLASSES: ReadonlyMap<string, (byte: number) => boolean> = new Map([
  ['alnum', within([0x30, 0x39], [0x41, 0x5a], [0x61, 0x7a])],
  ['alpha', within([0x41, 0x5a], [0x61, 0x7a])],
  ['blank', (byte: number) => byte === 0x20 || byte === 0x09],
  ['cntrl', within([0x00, 0x1f], [0x7f, 0x7f])],
  ['digit', within([0x30, 0x39])],
  ['graph', within([0x21, 0x7e])],
  ['lower', within([0x61, 0x7a])],
  ['print', within([0x20, 0x7e])],
  ['punct', within([0x21, 0x2f], [0x3a, 0x40], [0x5b, 0x60], [0x7b, 0x7e])],
  ['space', (byte: number) => SPACES.has(byte)],
  ['upper', within([0x41, 0x5a])],
  ['xdigit', within([0x30, 0x39], [0x41, 0x46], [0x61, 0x66])],
]);
