/** One import: what is imported (names where they are listed), from where, on which line. */
export interface ImportFound {
  readonly from: string;
  /** undefined: the whole module (namespace, default, dynamic, side effect) */
  readonly names: readonly string[] | undefined;
  /** only types: gone at run time */
  readonly typeOnly: boolean;
  readonly line: number;
}

/** A source file taken apart without a compiler. */
export interface ScannedSource {
  readonly imports: readonly ImportFound[];
  /** the text with comments and the content of strings blanked, line for line */
  readonly code: string;
}

const IMPORT =
  /\b(?:import|export)\s+(?<type>type\s+)?(?:(?<what>[^'";()]*?)\s+from\s+)?(?<quote>['"])(?<from>[^'"\n]+)\k<quote>|\bimport\s*\(\s*(?<quote2>['"`])(?<dynamic>[^'"`\n]+)\k<quote2>|\brequire\)?\s*\(\s*(?<quote3>['"`])(?<required>[^'"`\n]+)\k<quote3>|\bgetBuiltinModule\s*\(\s*(?<quote4>['"`])(?<builtin>[^'"`\n]+)\k<quote4>/g;

/** Finds the imports of a source text, and its code without comments and strings. */
export function scanSource(text: string): ScannedSource {
  const { withStrings, code } = blank(text);
  const imports: ImportFound[] = [];
  for (const match of withStrings.matchAll(IMPORT)) {
    const { type, what, from, dynamic, required, builtin } = match.groups ?? {};
    // A keyword inside a string is not there once strings are blanked.
    if (code.slice(match.index, match.index + 3) !== match[0].slice(0, 3)) continue;
    imports.push({
      from: from ?? dynamic ?? required ?? builtin ?? '',
      names: namesOf(what),
      typeOnly: type !== undefined || onlyTypes(what),
      line: withStrings.slice(0, match.index).split('\n').length,
    });
  }
  return { imports, code };
}

function namesOf(what: string | undefined): readonly string[] | undefined {
  const braces = /^\{(.*)\}$/s.exec(what?.trim() ?? '');
  return braces?.[1]
    ?.split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '))
    .map((name) => name.split(/\s+as\s+/)[0] ?? name);
}

function onlyTypes(what: string | undefined): boolean {
  return namesOf(what)?.length === 0;
}

/** Blanks comments, and in `code` the content of strings too; newlines stay. Template literals keep their `${…}`. */
function blank(text: string): { readonly withStrings: string; readonly code: string } {
  let withStrings = '';
  let code = '';
  const copy = (part: string) => {
    withStrings += part;
    code += part;
  };
  const hide = (part: string, keep: boolean) => {
    const spaces = part.replaceAll(/[^\n]/g, ' ');
    withStrings += keep ? part : spaces;
    code += spaces;
  };
  const templates: number[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at, at + 2);
    const character = text[at] ?? '';
    let end = at + 1;
    if (rest === '//' || rest === '/*') {
      const close = rest === '//' ? text.indexOf('\n', at) : text.indexOf('*/', at + 2) + 2;
      end = close < at + 2 ? text.length : close;
      hide(text.slice(at, end), false);
    } else if (character === "'" || character === '"') {
      end = endOfString(text, at, character);
      copy(character);
      hide(text.slice(at + 1, end - 1), true);
      copy(text.slice(Math.max(at + 1, end - 1), end));
    } else if (character === '`' || (character === '}' && templates.at(-1) === depth)) {
      if (character === '}') templates.pop();
      end = endOfTemplate(text, at + 1);
      copy(character);
      hide(text.slice(at + 1, end), true);
      if (text[end - 1] === '{') templates.push(depth);
    } else if (character === '/' && startsRegex(code)) {
      end = endOfRegex(text, at);
      hide(text.slice(at, end), true);
    } else {
      if (character === '{') depth += 1;
      if (character === '}') depth -= 1;
      copy(character);
    }
    at = end;
  }
  return { withStrings, code };
}

function endOfString(text: string, start: number, quote: string): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === quote || text[at] === '\n') return at + 1;
  }
  return text.length;
}

/** Just behind the closing backtick, or behind the brace of the next `${`. */
function endOfTemplate(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '`') return at + 1;
    else if (text[at] === '$' && text[at + 1] === '{') return at + 2;
  }
  return text.length;
}

function startsRegex(before: string): boolean {
  return /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|await|yield))\s*$/.test(
    before.slice(-40),
  );
}

function endOfRegex(text: string, start: number): number {
  let inClass = false;
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text[at];
    if (character === '\\') at += 1;
    else if (character === '[') inClass = true;
    else if (character === ']') inClass = false;
    else if (character === '\n' || (character === '/' && !inClass)) return at + 1;
  }
  return text.length;
}
