import { WaymarkError } from '../../domain/errors.ts';
import { unquotePath } from '../../domain/rel-path.ts';
import type { FilePatch, Hunk, Line } from './file-patch.ts';

interface Header {
  git: boolean;
  oldName: string | undefined;
  newName: string | undefined;
  gitName: string | undefined;
  action: FilePatch['action'] | undefined;
  from: string | undefined;
  to: string | undefined;
  executable: boolean | undefined;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const UNSUPPORTED_MODE = /^(?:new|deleted|old) (?:file )?mode (?!100[67])/;

/**
 * Parses a unified diff, plain or git's, of any number of files. Text before the first file is ignored, as in a mailed patch.
 *
 * @throws WaymarkError `VALIDATION_ERROR` where it is not one, with the line; `UNSUPPORTED` for binary patches, symlinks and submodules
 */
export function parsePatch(text: string): readonly FilePatch[] {
  const parser = new PatchParser(text);
  const files = parser.files();
  if (files.length === 0) throw new WaymarkError('VALIDATION_ERROR', 'The patch changes no file');
  return files;
}

class PatchParser {
  readonly #lines: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#lines = (
      Buffer.from(text, 'utf8')
        .toString('latin1')
        .match(/[^\n]*\n|[^\n]+$/g) ?? []
    ).map((line) => (line.endsWith('\n') ? line : `${line}\n`));
  }

  files(): readonly FilePatch[] {
    const files: FilePatch[] = [];
    while (this.#at < this.#lines.length) {
      const line = this.#line();
      if (line.startsWith('diff --git ') || this.#startsPlainFile()) files.push(this.#file());
      else if (line.startsWith('@@')) throw this.#bad('a hunk without a file');
      else if (files.length > 0 && /^[-+ ]/.test(line) && line !== '--' && line !== '-- ')
        throw this.#bad('a line beyond the hunk that its header announces');
      else this.#at += 1;
    }
    return files;
  }

  #startsPlainFile(): boolean {
    return this.#line().startsWith('--- ') && (this.#lines[this.#at + 1] ?? '').startsWith('+++ ');
  }

  #file(): FilePatch {
    const header = this.#header();
    const hunks: Hunk[] = [];
    let end = 0;
    while (this.#line().startsWith('@@')) {
      const hunk = this.#hunk();
      const start = hunk.oldLines.length === 0 ? hunk.oldStart + 1 : hunk.oldStart;
      if (start <= end) throw this.#bad('hunks out of order', hunk.patchLine);
      end = start + hunk.oldLines.length - 1;
      hunks.push(hunk);
    }
    return { ...this.#target(header), executable: header.executable, hunks };
  }

  #header(): Header {
    const header: Header = {
      git: false,
      oldName: undefined,
      newName: undefined,
      gitName: undefined,
      action: undefined,
      from: undefined,
      to: undefined,
      executable: undefined,
    };
    if (this.#line().startsWith('diff --git ')) {
      header.git = true;
      header.gitName = gitNameOf(this.#line().slice('diff --git '.length));
      this.#at += 1;
    }
    for (; this.#at < this.#lines.length; this.#at += 1) {
      const line = this.#line();
      if (line.startsWith('--- ') && header.oldName === undefined) header.oldName = fileName(line.slice(4));
      else if (line.startsWith('+++ ') && header.oldName !== undefined) {
        header.newName = fileName(line.slice(4));
        this.#at += 1;
        return header;
      } else if (!header.git || !this.#extended(line, header)) break;
    }
    return header;
  }

  #extended(line: string, header: Header): boolean {
    if (UNSUPPORTED_MODE.test(line)) throw this.#unsupported('a symlink or submodule');
    if (line.startsWith('GIT binary patch') || line.startsWith('Binary files '))
      throw this.#unsupported('a binary file');
    const named = /^(rename|copy) (from|to) (.*)$/.exec(line);
    if (named) {
      header.action = named[1] as 'rename' | 'copy';
      const name = nameText(named[3] ?? '');
      if (named[2] === 'from') header.from = name;
      else header.to = name;
    } else if (line.startsWith('new file mode')) {
      header.action = 'create';
      header.executable = line.trimEnd().endsWith('755');
    } else if (line.startsWith('deleted file mode')) header.action = 'delete';
    else if (line.startsWith('new mode')) header.executable = line.trimEnd().endsWith('755');
    else return /^(old mode|index|similarity index|dissimilarity index) /.test(line);
    return true;
  }

  #target(header: Header): Pick<FilePatch, 'action' | 'from' | 'to'> {
    const { action, oldName, newName } = header;
    if (action === 'rename' || action === 'copy') {
      if (header.from === undefined || header.to === undefined)
        throw this.#bad(`a ${action} without both names`);
      return { action, from: header.from, to: header.to };
    }
    const [from, to] = stripPrefixes(oldName, newName, header.git);
    if (action === 'create' || oldName === '/dev/null') {
      const name = to ?? header.gitName;
      if (name === undefined) throw this.#bad('a new file without a name');
      return { action: 'create', from: undefined, to: name };
    }
    if (action === 'delete' || newName === '/dev/null') {
      const name = from ?? header.gitName;
      if (name === undefined) throw this.#bad('a deleted file without a name');
      return { action: 'delete', from: name, to: undefined };
    }
    const name = to ?? header.gitName;
    if (name === undefined) throw this.#bad('a file without a name');
    if (from !== undefined && from !== name)
      throw this.#bad(`two names, "${from}" and "${name}", and no rename`);
    return { action: 'modify', from: name, to: name };
  }

  #hunk(): Hunk {
    const patchLine = this.#at + 1;
    const found = HUNK.exec(this.#line());
    if (found === null) throw this.#bad('a bad hunk header');
    const oldStart = Number(found[1]);
    let oldLeft = Number(found[2] ?? 1);
    let newLeft = Number(found[4] ?? 1);
    this.#at += 1;
    const oldLines: Line[] = [];
    const newLines: Line[] = [];
    let last: readonly Line[][] = [];
    while (oldLeft > 0 || newLeft > 0) {
      const raw = this.#lines[this.#at];
      if (raw === undefined) throw this.#bad('a hunk that ends early', patchLine);
      // Editors strip the one space of an empty context line.
      const line = raw === '\n' ? ' \n' : raw;
      const mark = line[0];
      if (mark === '\\') dropLineEnds(last);
      else {
        if (mark !== ' ' && mark !== '-' && mark !== '+')
          throw this.#bad('a hunk that ends early', patchLine);
        last = mark === ' ' ? [oldLines, newLines] : mark === '-' ? [oldLines] : [newLines];
        for (const list of last) list.push(line.slice(1));
        if (mark !== '+') oldLeft -= 1;
        if (mark !== '-') newLeft -= 1;
        if (oldLeft < 0 || newLeft < 0) throw this.#bad('a hunk whose header counts wrong', patchLine);
      }
      this.#at += 1;
    }
    if ((this.#lines[this.#at] ?? '').startsWith('\\')) {
      dropLineEnds(last);
      this.#at += 1;
    }
    return { oldStart, oldLines, newLines, patchLine };
  }

  #line(): string {
    return (this.#lines[this.#at] ?? '').replace(/\r?\n$/, '');
  }

  #bad(what: string, line = this.#at + 1): WaymarkError {
    return new WaymarkError('VALIDATION_ERROR', `Line ${line} of the patch: ${what}`);
  }

  #unsupported(what: string): WaymarkError {
    return new WaymarkError('UNSUPPORTED', `Line ${this.#at + 1} of the patch: ${what} cannot be patched`);
  }
}

/** `\ No newline at end of file` speaks of the line before it. */
function dropLineEnds(lists: readonly Line[][]): void {
  for (const list of lists) {
    const line = list.pop();
    if (line !== undefined) list.push(line.replace(/\n$/, ''));
  }
}

function fileName(text: string): string {
  return nameText(text.startsWith('"') ? text : (text.split('\t')[0] ?? text).trimEnd());
}

function nameText(text: string): string {
  return unquotePath(Buffer.from(text.replace(/\r$/, ''), 'latin1').toString('utf8'));
}

function stripPrefixes(
  oldName: string | undefined,
  newName: string | undefined,
  git: boolean,
): readonly [string | undefined, string | undefined] {
  const real = (name: string | undefined) => (name === '/dev/null' ? undefined : name);
  const from = real(oldName);
  const to = real(newName);
  const prefixed =
    (from === undefined || from.startsWith('a/')) &&
    (to === undefined || to.startsWith('b/')) &&
    (git || from !== to);
  return prefixed ? [from?.slice(2), to?.slice(2)] : [from, to];
}

/** `a/x b/x` names the file twice, alike but for the prefix. */
function gitNameOf(names: string): string | undefined {
  const quoted = /^("(?:[^"\\]|\\.)*") /.exec(names);
  if (quoted) return nameText(quoted[1] ?? '').slice(2);
  const half = (names.length - 1) / 2;
  const left = names.slice(0, half);
  const right = names.slice(half + 1);
  return left.slice(2) === right.slice(2) ? nameText(left).slice(2) : undefined;
}
