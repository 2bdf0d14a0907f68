/** A tree of files to measure on, built once and reused. */
export interface Corpus {
  readonly name: string;
  /** absolute; holds nothing but the tree */
  readonly directory: string;
  readonly files: number;
  readonly directories: number;
  /** logical bytes of the files */
  readonly bytes: number;
}

/** How a corpus comes to be. */
export interface CorpusDefinition {
  readonly name: string;
  /** Everything that decides the content; a corpus built from another recipe is built again. */
  readonly recipe: unknown;
  /** Fills an empty directory. */
  readonly fill: (directory: string) => void;
}
