const SPACE = /[\t\n\r ]*/y;
const SCALAR =
  /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/uy;

/** Finds the offset at which `text` stops being JSON, where `JSON.parse` often says only that it is none; undefined for JSON. */
export function jsonFault(text: string): number | undefined {
  const scan = { at: 0 };
  const ok = value(text, scan);
  take(text, scan, SPACE);
  return ok && scan.at === text.length ? undefined : scan.at;
}

interface Scan {
  at: number;
}

function value(text: string, scan: Scan): boolean {
  take(text, scan, SPACE);
  if (text[scan.at] === '{') return list(text, scan, '}', member);
  if (text[scan.at] === '[') return list(text, scan, ']', value);
  return take(text, scan, SCALAR);
}

function member(text: string, scan: Scan): boolean {
  take(text, scan, SPACE);
  if (text[scan.at] !== '"' || !take(text, scan, SCALAR)) return false;
  take(text, scan, SPACE);
  return literal(text, scan, ':') && value(text, scan);
}

function list(text: string, scan: Scan, end: string, item: (text: string, scan: Scan) => boolean): boolean {
  scan.at += 1;
  take(text, scan, SPACE);
  if (literal(text, scan, end)) return true;
  for (;;) {
    if (!item(text, scan)) return false;
    take(text, scan, SPACE);
    if (literal(text, scan, end)) return true;
    if (!literal(text, scan, ',')) return false;
  }
}

function literal(text: string, scan: Scan, character: string): boolean {
  if (text[scan.at] !== character) return false;
  scan.at += 1;
  return true;
}

function take(text: string, scan: Scan, pattern: RegExp): boolean {
  pattern.lastIndex = scan.at;
  const found = pattern.exec(text);
  if (found === null) return false;
  scan.at = pattern.lastIndex;
  return true;
}
