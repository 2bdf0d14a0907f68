import { lstatSync } from 'node:fs';
import { isWaymarkError, WaymarkError } from '../../domain/errors.ts';
import { systemError } from '../../platform/system-error.ts';
import type { StoreProblem } from '../snapshot-store.ts';
import { repositoryExists } from './capture/shadow-repository.ts';
import { ObjectMap } from './objects/object-map.ts';
import type { ShadowObjects } from './objects/shadow-objects.ts';
import type { ShadowContext } from './repository/shadow-context.ts';
import { lockStage } from './repository/stage-lock.ts';

/** Runs operations on a repository that may be missing, damaged, or replaced by another process at any time. */
export class RepositoryGuard {
  readonly #context: ShadowContext;
  readonly #objects: ShadowObjects;
  #generation: bigint | undefined;

  constructor(context: ShadowContext, objects: ShadowObjects) {
    this.#context = context;
    this.#objects = objects;
  }

  /** Runs what changes the repository, alone. */
  staged<T>(body: () => Promise<T>): Promise<T> {
    return this.attempt(async () => {
      using _stage = await lockStage(this.#context);
      return await body();
    });
  }

  /** Runs an operation; where the object map turns out to be damaged, once more without it. */
  async attempt<T>(body: () => Promise<T>): Promise<T> {
    const { gitDir, fs } = this.#context;
    try {
      try {
        return await body();
      } catch (error) {
        if (!isWaymarkError(error, 'CATALOG_CORRUPT')) throw error;
        await this.#objects.forget();
        ObjectMap.discard(gitDir, fs);
        return await body();
      }
    } catch (error) {
      throw systemError(error, 'use', gitDir);
    }
  }

  /** For operations that report damage instead of throwing it. */
  async orDamage<T>(body: () => Promise<T>, report: (problem: StoreProblem) => T): Promise<T> {
    try {
      return await this.attempt(body);
    } catch (error) {
      if (isWaymarkError(error, 'STORE_CORRUPT'))
        return report(this.problem('OBJECT_CORRUPT', error.message));
      throw error;
    }
  }

  /** What is the matter with the repository as a whole. */
  problem(code: StoreProblem['code'], message: string): StoreProblem {
    return { where: this.#context.gitDir, code, message, checkpointId: undefined, path: undefined };
  }

  /** @throws WaymarkError `STORE_CORRUPT` */
  async exists(): Promise<boolean> {
    const exists = await repositoryExists(this.#context);
    await this.noticeReplacement();
    return exists;
  }

  /** @throws WaymarkError `OBJECT_MISSING` where there is no repository, `STORE_CORRUPT` */
  async require(action: string): Promise<void> {
    if (!(await this.exists())) throw this.#absent(`Cannot ${action}`);
  }

  /** The same for the reading of one blob, without asking git. */
  requireDirectory(what: string): void {
    if (lstatSync(this.#context.gitDir, { throwIfNoEntry: false }) === undefined) throw this.#absent(what);
  }

  /** What is remembered of a repository that was removed or replaced by another process is not true any more. */
  async noticeReplacement(): Promise<void> {
    const inode = lstatSync(this.#context.gitDir, { bigint: true, throwIfNoEntry: false })?.ino;
    if (this.#generation !== undefined && inode !== this.#generation) await this.#objects.forget();
    this.#generation = inode;
  }

  #absent(what: string): WaymarkError {
    return new WaymarkError(
      'OBJECT_MISSING',
      `${what}: shadow repository ${this.#context.gitDir} does not exist`,
    );
  }
}
