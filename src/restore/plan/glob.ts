type Token =
  | { readonly kind: 'literal'; readonly character: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'run' }
  | { readonly kind: 'class'; readonly matches: (character: string) => boolean };

/**
 * Compiles a glob over `/`-separated paths: `*` and `?` stay within one name (dot names included), `**` as a whole component
 * stands for any number of directories, `[a-z]`, `[!a-z]` are classes, `\` takes the next character literally.
 * Matching takes time linear in pattern times path; letter case counts.
 */
export function compileGlob(pattern: string): (path: string) => boolean {
  const parts = pattern.split('/').map((part) => (part === '**' ? undefined : tokenize(part)));
  return (path) => matchSequence(parts, path.split('/'), (part) => part === undefined, matchName);
}

function matchName(tokens: readonly Token[] | undefined, name: string): boolean {
  return matchSequence(
    tokens ?? [],
    Array.from(name),
    (token) => token.kind === 'run',
    (token, character) =>
      token.kind === 'literal'
        ? token.character === character
        : token.kind === 'class'
          ? token.matches(character)
          : true,
  );
}

/** Matches a sequence with wildcards that take any number of items: on a mismatch the latest wildcard takes one more. */
function matchSequence<Pattern, Item>(
  patterns: readonly Pattern[],
  items: readonly Item[],
  isWildcard: (pattern: Pattern) => boolean,
  matches: (pattern: Pattern, item: Item) => boolean,
): boolean {
  let at = 0;
  let item = 0;
  let wildcard = -1;
  let taken = 0;
  while (item < items.length) {
    const pattern = patterns[at] as Pattern;
    if (at < patterns.length && isWildcard(pattern)) {
      wildcard = at;
      taken = item;
      at += 1;
    } else if (at < patterns.length && matches(pattern, items[item] as Item)) {
      at += 1;
      item += 1;
    } else if (wildcard >= 0) {
      at = wildcard + 1;
      taken += 1;
      item = taken;
    } else return false;
  }
  while (at < patterns.length && isWildcard(patterns[at] as Pattern)) at += 1;
  return at === patterns.length;
}

function tokenize(part: string): readonly Token[] {
  const characters = Array.from(part);
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] as string;
    const end = character === '[' ? classEnd(characters, at) : -1;
    if (character === '*') tokens.push({ kind: 'run' });
    else if (character === '?') tokens.push({ kind: 'any' });
    else if (end > 0) {
      tokens.push({ kind: 'class', matches: compileClass(characters.slice(at + 1, end)) });
      at = end;
    } else if (character === '\\' && at + 1 < characters.length) {
      at += 1;
      tokens.push({ kind: 'literal', character: characters[at] as string });
    } else tokens.push({ kind: 'literal', character });
  }
  return tokens;
}

/** Index of the `]` that closes the class opened at `start`, or -1; a `]` directly after the opening belongs to the class. */
function classEnd(characters: readonly string[], start: number): number {
  const first = start + (characters[start + 1] === '!' || characters[start + 1] === '^' ? 2 : 1);
  return characters.indexOf(']', first + 1);
}

function compileClass(body: readonly string[]): (character: string) => boolean {
  const negated = body[0] === '!' || body[0] === '^';
  const members = negated ? body.slice(1) : body;
  const ranges: (readonly [number, number])[] = [];
  for (let at = 0; at < members.length; at += 1) {
    const from = codeOf(members[at]);
    if (members[at + 1] === '-' && at + 2 < members.length) {
      ranges.push([from, codeOf(members[at + 2])]);
      at += 2;
    } else ranges.push([from, from]);
  }
  return (character) =>
    ranges.some(([from, to]) => codeOf(character) >= from && codeOf(character) <= to) !== negated;
}

function codeOf(character: string | undefined): number {
  return character?.codePointAt(0) ?? 0;
}
