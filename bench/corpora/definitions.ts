import type { CorpusDefinition } from './corpus.ts';
import { generateTree, type TreeShape } from './generate-tree.ts';
import { ICONS, LIBRARIES, MODULES } from './pinned-packages.ts';
import { unpackPackages } from './unpack-packages.ts';

/** Real files of many kinds. */
const real = packages('real', LIBRARIES);

/** Real files, most of them tiny. */
const icons = packages('icons', ICONS);

/** Real files, few in a directory. */
const modules = packages('modules', MODULES);

/** Many directories: what a scan costs beside the files. */
const deep = generated('deep', { files: 27_000, directories: 13_000, fanOut: 2 });

/** For a check that everything runs. */
const tiny = generated('tiny', { files: 300, directories: 40, fanOut: 3 });

export const CORPORA: ReadonlyMap<string, CorpusDefinition> = new Map(
  [modules, real, icons, deep, tiny].map((definition) => [definition.name, definition]),
);

/** Trees of one shape, ten files in a directory, for the growth of each row with the number of files. */
export function growthCorpus(files: number): CorpusDefinition {
  return generated(`grown-${files}`, { files, directories: Math.ceil(files / 10), fanOut: 8 });
}

function packages(name: string, specifiers: readonly string[]): CorpusDefinition {
  return { name, recipe: specifiers, fill: (directory) => unpackPackages(specifiers, directory) };
}

function generated(name: string, shape: TreeShape): CorpusDefinition {
  return { name, recipe: shape, fill: (directory) => generateTree(shape, directory) };
}
