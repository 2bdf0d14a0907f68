import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface TreeShape {
  readonly files: number;
  readonly directories: number;
  /** directories in a directory; few make the tree deep */
  readonly fanOut: number;
}

const WORDS =
  'const export function return import type readonly string number value index result option from await async'.split(
    ' ',
  );

/** Fills a directory with small source-like files of 80 to 1,500 bytes, no two alike. The same shape gives the same bytes. */
export function generateTree(shape: TreeShape, root: string): void {
  const random = randomNumbers(shape.files);
  const directories = [''];
  for (let at = 1; at <= shape.directories; at++) {
    const parent = directories[Math.floor((at - 1) / shape.fanOut)] ?? '';
    const directory = join(parent, `part-${at}`);
    mkdirSync(join(root, directory));
    directories.push(directory);
  }
  for (let at = 0; at < shape.files; at++) {
    const directory = directories[at % directories.length] ?? '';
    writeFileSync(join(root, directory, `file-${at}.ts`), sourceText(at, random));
  }
}

function sourceText(number: number, random: () => number): string {
  const lines = [`// file ${number}`];
  const count = 2 + Math.floor(random() * 30);
  for (let line = 0; line < count; line++) {
    const words = Array.from({ length: 5 }, () => WORDS[Math.floor(random() * WORDS.length)]);
    lines.push(`${words.join(' ')} ${Math.floor(random() * 1e6)};`);
  }
  return `${lines.join('\n')}\n`;
}

/** Numbers in [0, 1) from a seed: mulberry32, public domain. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
