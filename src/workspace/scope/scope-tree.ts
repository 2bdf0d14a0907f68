import { ancestorsOf, baseNameOf, parentOf, type RelPath } from '../../domain/rel-path.ts';
import type { FrozenRules, IgnoreFile } from '../../domain/rules.ts';
import { byteString } from './byte-string.ts';
import { isGitName, isPrunedName, isSecretName, RESTORE_TEMPORARY_PREFIX } from './fixed-names.ts';
import { compileIgnoreFiles, type IgnoreChain, type IgnoreGroups, NO_IGNORE_FILES } from './ignore-chain.ts';
import { type IgnoreList, ignoreListOf } from './ignore-list.ts';
import {
  EXCLUDED,
  FORBIDDEN,
  IGNORED,
  IN_SCOPE,
  OUTSIDE,
  PASSAGE,
  PRUNED,
  SECRET,
  UNSEEN,
  type Verdict,
} from './verdict.ts';

/** One directory as the rules see it. */
export interface DirectoryScope {
  readonly path: RelPath | '';
  /** what holds for the directory itself, and so for what lies in it unless something more particular is said */
  readonly verdict: Verdict;
  /** lies inside the selection, or there is none */
  readonly selected: boolean;
  readonly chain: IgnoreChain;
}

/** The parts of the rules that do not depend on the tree. */
export type FixedRules = Pick<FrozenRules, 'include' | 'exclude' | 'forbidden' | 'selection'>;

/**
 * Answers which paths are in scope. Ignore files and the exceptions that git indexes list can be replaced while a walk learns them;
 * without that it answers from frozen data alone.
 */
export class ScopeTree {
  readonly #include: IgnoreList;
  readonly #exclude: IgnoreList;
  readonly #forbidden: ReadonlySet<string>;
  readonly #selected: ReadonlySet<string>;
  readonly #aboveSelected: ReadonlySet<string>;
  readonly #ignoreFiles = new Map<string, readonly IgnoreFile[]>();
  readonly #compiled = new Map<string, IgnoreGroups>();
  readonly #directories = new Map<string, DirectoryScope>();
  #tracked: ReadonlySet<string> = new Set();
  #aboveTracked: ReadonlySet<string> = new Set();

  constructor(rules: FixedRules, ignoreFiles: readonly IgnoreFile[], tracked: readonly RelPath[]) {
    this.#include = ignoreListOf(rules.include.map(byteString));
    this.#exclude = ignoreListOf(rules.exclude.map(byteString));
    this.#forbidden = new Set(rules.forbidden);
    this.#selected = new Set(rules.selection);
    this.#aboveSelected = ancestorSet(rules.selection);
    for (const [dir, files] of Map.groupBy(ignoreFiles, (file) => file.dir)) this.setIgnoreFiles(dir, files);
    this.setTracked(tracked);
  }

  /** The ignore files that belong to a directory. */
  ignoreFilesOf(dir: RelPath | ''): readonly IgnoreFile[] {
    return this.#ignoreFiles.get(dir) ?? [];
  }

  setIgnoreFiles(dir: RelPath | '', files: readonly IgnoreFile[]): void {
    this.#directories.clear();
    this.#compiled.delete(dir);
    this.#ignoreFiles.delete(dir);
    if (files.length === 0) return;
    this.#ignoreFiles.set(dir, files);
    this.#compiled.set(dir, compileIgnoreFiles(files));
  }

  setTracked(paths: readonly RelPath[]): void {
    this.#tracked = new Set(paths);
    this.#aboveTracked = ancestorSet(paths);
  }

  /** Tells whether something that a git index lists although it is hidden lies below the directory. */
  leadsToTracked(dir: RelPath): boolean {
    return this.#aboveTracked.has(dir);
  }

  directory(path: RelPath | ''): DirectoryScope {
    const known = this.#directories.get(path);
    if (known) return known;
    const parent = path === '' ? undefined : this.directory(parentOf(path));
    const verdict =
      parent && path !== '' ? this.judge(parent, baseNameOf(path), path, true) : this.#rootVerdict();
    const inherited = parent?.chain ?? NO_IGNORE_FILES;
    const own = this.#compiled.get(path);
    const scope: DirectoryScope = {
      path,
      verdict,
      selected: parent ? parent.selected || this.#selected.has(path) : this.#selected.size === 0,
      chain: own ? inherited.enter(own) : inherited,
    };
    this.#directories.set(path, scope);
    return scope;
  }

  #rootVerdict(): Verdict {
    return this.#selected.size === 0 ? IN_SCOPE : PASSAGE;
  }

  /** Judges a name in a directory. `path` is the joined path of both. */
  judge(parent: DirectoryScope, name: string, path: RelPath, isDirectory: boolean): Verdict {
    const verdict = this.#judgeUntracked(parent, name, path, isDirectory);
    return verdict.kind === 'hidden' && !isDirectory && this.#tracked.has(path) ? IN_SCOPE : verdict;
  }

  /** Judges any path, present or not; its ancestors count as directories. */
  judgePath(path: RelPath, isDirectory: boolean): Verdict {
    return this.judge(this.directory(parentOf(path)), baseNameOf(path), path, isDirectory);
  }

  /** Tells whether a file is hidden by its name or by ignore files, whatever a git index says. */
  isHiddenByRule(path: RelPath): boolean {
    const parent = this.directory(parentOf(path));
    return this.#judgeUntracked(parent, baseNameOf(path), path, false).kind === 'hidden';
  }

  #judgeUntracked(parent: DirectoryScope, name: string, path: RelPath, isDirectory: boolean): Verdict {
    if (isGitName(name)) return UNSEEN;
    const above = parent.verdict;
    if (above.kind === 'unseen' || above.kind === 'closed') return above;
    if (name.startsWith(RESTORE_TEMPORARY_PREFIX) || this.#forbidden.has(path)) return FORBIDDEN;
    const selected = parent.selected || this.#selected.has(path);
    if (!selected && !(isDirectory && this.#aboveSelected.has(path))) return OUTSIDE;
    const verdict = this.#judgeName(parent, name, path, isDirectory);
    return verdict.kind === 'in_scope' && !selected ? PASSAGE : verdict;
  }

  #judgeName(parent: DirectoryScope, name: string, path: RelPath, isDirectory: boolean): Verdict {
    if (isSecretName(name)) return SECRET;
    const above = parent.verdict;
    if (above.kind === 'excluded') return EXCLUDED;
    const bytes = byteString(path);
    const nameAt = bytes.lastIndexOf('/') + 1;
    if (this.#exclude.answer(bytes, nameAt, isDirectory) === 'ignored') return EXCLUDED;
    if (above.kind === 'hidden') return above;
    if (isPrunedName(name, isDirectory) && this.#include.answer(bytes, nameAt, isDirectory) !== 'ignored') {
      return PRUNED;
    }
    return parent.chain.ignores(bytes, nameAt, isDirectory) ? IGNORED : IN_SCOPE;
  }
}

function ancestorSet(paths: readonly RelPath[]): ReadonlySet<string> {
  const ancestors = new Set<string>();
  for (const path of paths) for (const ancestor of ancestorsOf(path)) ancestors.add(ancestor);
  return ancestors;
}
