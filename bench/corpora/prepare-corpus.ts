import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { measureTree } from '../measure/measure-tree.ts';
import type { Corpus, CorpusDefinition } from './corpus.ts';

/** Gives the corpus below `parent`; builds it where it is missing or of another recipe. */
export function prepareCorpus(definition: CorpusDefinition, parent: string): Corpus {
  const directory = join(parent, definition.name);
  const record = `${directory}.json`;
  const recipe: unknown = JSON.parse(JSON.stringify(definition.recipe));
  const known = existsSync(record) ? (JSON.parse(readFileSync(record, 'utf8')) as BuiltCorpus) : undefined;
  if (known === undefined || !isDeepStrictEqual(known.recipe, recipe) || !existsSync(directory)) {
    rmSync(record, { force: true });
    rmSync(directory, { recursive: true, force: true });
    const unfinished = `${directory}.unfinished`;
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished, { recursive: true });
    definition.fill(unfinished);
    renameSync(unfinished, directory);
    const built: BuiltCorpus = { recipe, ...measureTree(directory) };
    writeFileSync(record, `${JSON.stringify(built)}\n`);
  }
  const { files, directories, bytes } = JSON.parse(readFileSync(record, 'utf8')) as BuiltCorpus;
  return { name: definition.name, directory, files, directories, bytes };
}

interface BuiltCorpus {
  readonly recipe: unknown;
  readonly files: number;
  readonly directories: number;
  readonly bytes: number;
}
