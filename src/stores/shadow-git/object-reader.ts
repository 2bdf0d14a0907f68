import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { WaymarkError } from '../../domain/errors.ts';
import type { Git, GitProcess } from '../../platform/git-process.ts';
import { BatchParser } from './batch-parser.ts';

/** Receives one object. Exactly one of `end`, `missing`, `fail` ends it. */
export interface ObjectSink {
  readonly name: string;
  /** @param size bytes */
  start(type: string, size: number): void;
  chunk(bytes: Buffer): void;
  end(): void;
  fail(error: WaymarkError): void;
}

export interface GitObject {
  readonly type: string;
  readonly content: Buffer;
}

/**
 * Reads objects through one `git cat-file --batch`, started when needed and restarted when packs changed. While it is idle it does not keep
 * the process alive.
 */
export class ObjectReader {
  readonly #git: Git;
  readonly #gitDir: string;
  #process: GitProcess | undefined;
  #packs = '';
  readonly #waiting: ObjectSink[] = [];

  constructor(git: Git, gitDir: string) {
    this.#git = git;
    this.#gitDir = gitDir;
  }

  /**
   * Reads one object by name (40 hex digits, or `<ref>:<path>` without spaces).
   *
   * @throws WaymarkError `OBJECT_MISSING`, `OBJECT_CORRUPT`, `STORE_CORRUPT`, `GIT_NOT_FOUND`
   */
  read(name: string): Promise<GitObject> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let kind = '';
      this.#request({
        name,
        start: (type) => {
          kind = type;
        },
        chunk: (bytes) => chunks.push(bytes),
        end: () => resolve({ type: kind, content: Buffer.concat(chunks) }),
        fail: reject,
      });
    });
  }

  /** The same in pieces of at most 64 KiB, as fast as they are taken. */
  async *stream(name: string): AsyncGenerator<Buffer, undefined> {
    const queue: Buffer[] = [];
    let state: 'open' | 'ended' | WaymarkError = 'open';
    let wake = () => {};
    let isWanted = true;
    this.#request({
      name,
      start: () => {},
      chunk: (bytes) => {
        if (!isWanted) return;
        queue.push(bytes);
        this.#process?.stdout.pause();
        wake();
      },
      end: () => {
        state = 'ended';
        wake();
      },
      fail: (error) => {
        state = error;
        wake();
      },
    });
    try {
      for (;;) {
        const piece = queue.shift();
        if (piece !== undefined) yield piece;
        else if (state !== 'open') break;
        else {
          const awake = new Promise<void>((resolve) => {
            wake = resolve;
          });
          this.#process?.stdout.resume();
          await awake;
        }
      }
      if (state !== 'ended') throw state;
    } finally {
      // whoever stops early leaves the rest to be read past
      isWanted = false;
      this.#process?.stdout.resume();
    }
  }

  /** Ends the process; the next read starts another. */
  async close(): Promise<void> {
    const process = this.#process;
    this.#process = undefined;
    if (process === undefined) return;
    process.kill();
    await process.ended.catch(() => undefined);
  }

  #request(sink: ObjectSink): void {
    try {
      const process = this.#ready();
      this.#waiting.push(sink);
      process.keepAlive(true);
      process.stdin.write(`${sink.name}\n`);
    } catch (error) {
      sink.fail(error as WaymarkError);
    }
  }

  #ready(): GitProcess {
    if (
      this.#process !== undefined &&
      this.#waiting.length === 0 &&
      this.#packs !== packsState(this.#gitDir)
    ) {
      this.#process.kill();
      this.#process = undefined;
    }
    this.#process ??= this.#start();
    return this.#process;
  }

  #start(): GitProcess {
    this.#packs = packsState(this.#gitDir);
    const process = this.#git.start({ args: ['cat-file', '--batch'], gitDir: this.#gitDir, isolated: true });
    const parser = new BatchParser(
      () => this.#waiting[0],
      () => this.#answered(process),
    );
    process.stdout.on('data', (bytes: Buffer) => parser.feed(bytes));
    process.ended.then(
      ({ stderr }) => this.#ended(process, stderr),
      (error: unknown) => this.#failAll(process, error as WaymarkError),
    );
    return process;
  }

  #answered(process: GitProcess): void {
    this.#waiting.shift();
    if (this.#waiting.length === 0) process.keepAlive(false);
  }

  /** Git dies of an object it cannot unpack: that one is damaged, the others are asked of a new process. */
  #ended(process: GitProcess, stderr: string): void {
    if (process !== this.#process) return;
    this.#process = undefined;
    if (/not a git repository|bad config/.test(stderr)) {
      const reason = `Shadow repository ${this.#gitDir} is damaged: ${stderr.trim()}`;
      this.#failAll(process, new WaymarkError('STORE_CORRUPT', reason));
      return;
    }
    const culprit = this.#waiting.shift();
    culprit?.fail(
      new WaymarkError(
        'OBJECT_CORRUPT',
        `Object ${culprit.name} of the shadow repository is damaged: ${stderr.trim()}`,
      ),
    );
    for (const sink of this.#waiting.splice(0)) this.#request(sink);
  }

  #failAll(process: GitProcess, error: WaymarkError): void {
    if (this.#process === process) this.#process = undefined;
    for (const sink of this.#waiting.splice(0)) sink.fail(error);
  }
}

/** Changes when a pack comes or goes: a running git may hold one that was removed. */
function packsState(gitDir: string): string {
  const stats = lstatSync(join(gitDir, 'objects', 'pack'), { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? 'none' : `${stats.ino} ${stats.mtimeNs}`;
}
