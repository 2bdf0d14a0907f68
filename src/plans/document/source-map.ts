import type { Document } from 'yaml';
import { WaymarkError } from '../../domain/errors.ts';
import { jsonFault } from './json-fault.ts';

/** A key or index on the way to a value. */
export type DocumentPath = readonly (string | number)[];

/** One thing wrong with a plan file. `line` and `column` count from 1; undefined where nothing is known. */
export interface DocumentProblem {
  readonly path: DocumentPath;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

/** A parsed file that can tell where a value stood. */
export interface ParsedSource {
  readonly file: string;
  readonly value: unknown;
  locate(path: DocumentPath): { readonly line: number; readonly column: number } | undefined;
}

/**
 * Parses YAML 1.2, or strict JSON where the name ends in `.json`.
 *
 * @throws WaymarkError `VALIDATION_ERROR` with line and column of every syntax error
 */
export async function parseSource(file: string, text: string): Promise<ParsedSource> {
  if (file.toLowerCase().endsWith('.json')) checkJson(file, text);
  const { LineCounter, isScalar, isMap, parseDocument, visit } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, version: '1.2' });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    throw invalidPlan(
      file,
      faults.map(({ message, pos }) => ({ path: [], message, ...position(lines.linePos(pos[0])) })),
    );
  }
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return;
      const where = position(lines.linePos(alias.range?.[0] ?? 0));
      throw invalidPlan(file, [{ path: [], message: `no anchor "${alias.source}"`, ...where }]);
    },
  });
  const locate = (path: DocumentPath) => {
    for (let length = path.length; length >= 0; length -= 1) {
      const key = path[length - 1];
      const parent = length > 0 ? nodeAt(document, path.slice(0, length - 1)) : undefined;
      const pair = isMap(parent)
        ? parent.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key))
        : undefined;
      const node = (pair?.value ?? pair?.key ?? nodeAt(document, path.slice(0, length))) as
        | { readonly range?: readonly [number, number, number] | null }
        | undefined;
      if (node?.range) return position(lines.linePos(node.range[0]));
    }
    return undefined;
  };
  return { file, value: toValue(file, document), locate };
}

function nodeAt(document: Document, path: DocumentPath): unknown {
  return path.length === 0 ? document.contents : document.getIn(path, true);
}

function position({ line, col }: { readonly line: number; readonly col: number }) {
  return { line, column: col };
}

/** Aliases are expanded at most a hundred times each, so a small file can't grow without bound. */
function toValue(file: string, document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw invalidPlan(file, [{ path: [], message: (error as Error).message }]);
  }
}

function checkJson(file: string, text: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    const before = text.slice(0, jsonFault(text)).split('\n');
    const where = { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
    throw invalidPlan(file, [{ path: [], message: (error as Error).message, ...where }]);
  }
}

const SHOWN = 10;

/** Makes the one error for everything wrong with a plan file: `plan.yaml:4:8: steps[0].path: …`, a line each. */
export function invalidPlan(file: string, problems: readonly DocumentProblem[]): WaymarkError {
  const lines = problems.slice(0, SHOWN).map(({ path, message, line, column }) => {
    const where = line === undefined ? file : `${file}:${line}:${column}`;
    return path.length > 0 ? `${where}: ${printPath(path)}: ${message}` : `${where}: ${message}`;
  });
  if (problems.length > SHOWN) lines.push(`and ${problems.length - SHOWN} more`);
  return new WaymarkError('VALIDATION_ERROR', `Invalid plan ${lines.join('\n')}`, {
    details: {
      file,
      problems: problems.map(({ path, message, line, column }) => ({
        path: printPath(path),
        message,
        line: line ?? null,
        column: column ?? null,
      })),
    },
  });
}

function printPath(path: DocumentPath): string {
  return path
    .map((part, at) => (typeof part === 'number' ? `[${part}]` : at === 0 ? part : `.${part}`))
    .join('');
}
