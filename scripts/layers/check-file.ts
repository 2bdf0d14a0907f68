import { posix } from 'node:path';
import { checkOrder } from './check-order.ts';
import { LAYERS, READING, RESERVED, RESERVED_MODULES } from './layers.ts';
import { type ImportFound, scanSource } from './scan-source.ts';
import type { Violation } from './violation.ts';

/**
 * Checks one file of `src/`.
 *
 * @param path relative to `src/`, `/`-separated
 */
export function checkFile(path: string, text: string): readonly Violation[] {
  const layer = layerOf(path);
  if (layer === undefined) {
    return [{ line: 1, message: `src/${path} lies in no layer: add its folder to scripts/layers/layers.ts` }];
  }
  const { imports, code } = scanSource(text);
  const arrows = imports.flatMap((found) => checkArrow(path, layer, found));
  // Tests make their own places to work in.
  if (isTest(path)) return arrows;
  return [
    ...arrows,
    ...checkOrder(path, imports),
    ...imports.flatMap((found) => checkModule(layer, found)),
    ...checkUses(layer, code),
  ];
}

/** The layer that a file of `src/` belongs to. */
function layerOf(path: string): string | undefined {
  const layer = path.includes('/') ? (path.split('/')[0] ?? '') : 'index';
  return layer in LAYERS ? layer : undefined;
}

function isTest(path: string): boolean {
  return path.endsWith('.test.ts');
}

function checkArrow(path: string, layer: string, { from, line }: ImportFound): readonly Violation[] {
  if (!from.startsWith('.')) return [];
  const target = posix.normalize(posix.join(posix.dirname(path), from));
  if (target.startsWith('..')) {
    return isTest(path) ? [] : [{ line, message: `${layer} imports ${from}, which is outside src/` }];
  }
  const other = layerOf(target);
  if (other === layer || (LAYERS[layer] ?? []).includes(other ?? '')) return [];
  return [{ line, message: `${layer} must not import ${other ?? target} (${from})` }];
}

function checkModule(layer: string, { from, names, typeOnly, line }: ImportFound): readonly Violation[] {
  if (typeOnly) return [];
  const builtin = from.replace(/^node:/, '');
  const reserved = RESERVED_MODULES[builtin];
  if (reserved && !reserved.layers.includes(layer)) {
    return [{ line, message: `${layer} must not import ${from}: ${reserved.reason}` }];
  }
  if (builtin !== 'fs' || layer === 'platform') return [];
  const writers = names === undefined ? ['everything'] : names.filter((name) => !READING.has(name));
  return writers.map((name) => ({
    line,
    message: `${layer} must not import ${name} of ${from}: only platform/ writes files`,
  }));
}

function checkUses(layer: string, code: string): readonly Violation[] {
  return code.split('\n').flatMap((text, index) =>
    RESERVED.filter(({ use, layers }) => use.test(text) && !layers.includes(layer)).map(
      ({ use, reason }) => ({
        line: index + 1,
        message: `${layer} must not use ${use.exec(text)?.[0].trim() ?? ''}: ${reason}`,
      }),
    ),
  );
}
