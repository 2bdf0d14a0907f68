import { type Block, line, type Tone } from './block.ts';

/** Something with things below it. */
export interface Branch {
  readonly text: string;
  readonly tone: Tone;
  readonly below: readonly Branch[];
}

/** Draws a tree, a line for each branch. */
export function branchLines(root: Branch): readonly Block[] {
  return [line(root.text, root.tone), ...linesBelow(root, '')];
}

function linesBelow({ below }: Branch, indent: string): readonly Block[] {
  return below.flatMap((branch, at) => {
    const last = at === below.length - 1;
    return [
      line(`${indent}${last ? '└─ ' : '├─ '}${branch.text}`, branch.tone),
      ...linesBelow(branch, `${indent}${last ? '   ' : '│  '}`),
    ];
  });
}
