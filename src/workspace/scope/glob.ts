import { type ByteSet, parseByteSet } from './byte-set.ts';

/** Matches a whole byte string. */
export type Glob = (text: string) => boolean;

type Token =
  | { readonly kind: 'byte'; readonly code: number }
  | { readonly kind: 'set'; readonly set: ByteSet }
  /** any bytes but `/` */
  | { readonly kind: 'star' }
  /** any bytes */
  | { readonly kind: 'globstar' }
  /** goes on behind itself or behind the two tokens that follow: no directory, or some */
  | { readonly kind: 'fork' };

const SLASH = 0x2f;

/**
 * Compiles a git wildcard (wildmatch with `WM_PATHNAME`) over byte strings.
 *
 * It runs as an automaton that follows all possibilities at once, so time is bounded by pattern length times text length: no pattern
 * in somebody's `.gitignore` can hang a capture. A pattern with a malformed bracket matches nothing.
 */
export function compileGlob(pattern: string): Glob {
  const tokens = tokenize(pattern);
  return tokens ? automaton(tokens) : () => false;
}

function tokenize(pattern: string): readonly Token[] | undefined {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; ) {
    const character = pattern[at];
    if (character === '*') at = pushStars(pattern, at, tokens);
    else if (character === '?') {
      tokens.push({ kind: 'set', set: ANY_BUT_SLASH });
      at += 1;
    } else if (character === '[') {
      const parsed = parseByteSet(pattern, at);
      if (!parsed) return undefined;
      tokens.push({ kind: 'set', set: parsed.set });
      at = parsed.end;
    } else {
      const literal = character === '\\' ? at + 1 : at;
      if (literal >= pattern.length) return undefined;
      tokens.push({ kind: 'byte', code: pattern.charCodeAt(literal) });
      at = literal + 1;
    }
  }
  return tokens;
}

/** `**` crosses directories only as a whole component; otherwise any run of stars is one star. Returns where the pattern goes on. */
function pushStars(pattern: string, start: number, tokens: Token[]): number {
  let end = start;
  while (pattern[end] === '*') end += 1;
  const opens = start === 0 || pattern[start - 1] === '/';
  const closes =
    end === pattern.length || pattern[end] === '/' || (pattern[end] === '\\' && pattern[end + 1] === '/');
  if (end - start === 1 || !opens || !closes) {
    tokens.push({ kind: 'star' });
    return end;
  }
  if (pattern[end] !== '/') {
    tokens.push({ kind: 'globstar' });
    return end;
  }
  tokens.push({ kind: 'fork' }, { kind: 'globstar' }, { kind: 'byte', code: SLASH });
  return end + 1;
}

const ANY_BUT_SLASH: ByteSet = new Uint8Array(256).fill(1);
ANY_BUT_SLASH[SLASH] = 0;

function automaton(tokens: readonly Token[]): Glob {
  const accept = tokens.length;
  const reachedAt = new Int32Array(accept + 1);
  let current: number[] = [];
  let next: number[] = [];

  function reach(states: number[], state: number, step: number): void {
    if (reachedAt[state] === step) return;
    reachedAt[state] = step;
    states.push(state);
    const kind = tokens[state]?.kind;
    if (kind === 'star' || kind === 'globstar' || kind === 'fork') reach(states, state + 1, step);
    if (kind === 'fork') reach(states, state + 3, step);
  }

  return (text) => {
    reachedAt.fill(0);
    current.length = 0;
    reach(current, 0, 1);
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      const step = at + 2;
      next.length = 0;
      for (const state of current) {
        const token = tokens[state];
        if (token === undefined || token.kind === 'fork') continue;
        if (token.kind === 'globstar' || (token.kind === 'star' && code !== SLASH)) reach(next, state, step);
        else if (token.kind === 'byte' ? token.code === code : token.kind === 'set' && token.set[code] === 1)
          reach(next, state + 1, step);
      }
      if (next.length === 0) return false;
      [current, next] = [next, current];
    }
    return reachedAt[accept] === text.length + 1;
  };
}
