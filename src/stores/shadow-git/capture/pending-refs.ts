import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../../platform/system-error.ts';
import type { ShadowContext } from '../repository/shadow-context.ts';
import type { PendingSnapshot } from './write-snapshot.ts';

/** The refs that hold snapshots which this process wrote and no checkpoint holds yet. */
export class PendingRefs {
  readonly #context: ShadowContext;
  /** by the root of the snapshot */
  readonly #refs = new Map<string, string[]>();

  constructor(context: ShadowContext) {
    this.#context = context;
  }

  remember({ ref, pendingRef }: PendingSnapshot): void {
    if (pendingRef === undefined) return;
    this.#refs.set(ref.root, [...(this.#refs.get(ref.root) ?? []), pendingRef]);
  }

  /** A pending ref is a loose file: only a collection packs refs, and drops the pending ones first. One that can't be removed waits for it. */
  drop(root: string): void {
    const { gitDir, fs } = this.#context;
    for (const ref of this.#refs.get(root) ?? []) {
      const path = join(gitDir, ref);
      try {
        if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) fs.unlink(path);
      } catch (error) {
        if (errorCode(error) === undefined) throw error;
      }
    }
    this.#refs.delete(root);
  }

  dropAll(): void {
    for (const root of this.#refs.keys()) this.drop(root);
  }
}
