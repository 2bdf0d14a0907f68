import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { WaymarkError } from '../../../domain/errors.ts';
import type { Git, GitProcess } from '../../../platform/git-process.ts';
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

/** A running `cat-file` and the questions it has not answered, oldest first. */
interface Session {
  readonly process: GitProcess;
  readonly waiting: ObjectSink[];
}

/**
 * Reads objects through one `git cat-file --batch`, started when needed and restarted when packs were removed. While it is idle it does not
 * keep our process alive.
 */
export class ObjectReader {
  readonly #git: Git;
  readonly #gitDir: string;
  #session: Session | undefined;
  #packs = NO_PACKS;

  constructor(git: Git, gitDir: string) {
    this.#git = git;
    this.#gitDir = gitDir;
  }

  /**
   * Reads one object by name (40 hex digits, or `<commit>:<path>` without spaces).
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
    const session = () => this.#session?.process.stdout;
    this.#request({
      name,
      start: () => {},
      chunk: (bytes) => {
        if (!isWanted) return;
        queue.push(bytes);
        if (queue.length > MOST_QUEUED) session()?.pause();
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
          session()?.resume();
          await awake;
        }
      }
      if (state !== 'ended') throw state;
    } finally {
      // whoever stops early leaves the rest to be read past
      isWanted = false;
      session()?.resume();
    }
  }

  /** Ends the process once it has answered; the next read starts another. */
  async close(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    if (session === undefined) return;
    if (session.waiting.length > 0) session.process.stdin.end();
    else {
      session.process.keepAlive(true);
      session.process.kill();
      await session.process.ended.catch(() => undefined);
    }
  }

  #request(sink: ObjectSink): void {
    try {
      const { process, waiting } = this.#ready();
      waiting.push(sink);
      process.keepAlive(true);
      process.stdin.write(`${sink.name}\n`);
    } catch (error) {
      sink.fail(error as WaymarkError);
    }
  }

  #ready(): Session {
    const idle = this.#session?.waiting.length === 0 ? this.#session : undefined;
    if (idle !== undefined) {
      const packs = lookAtPacks(this.#gitDir, this.#packs);
      // git finds new packs by itself, and holds on to those that were removed
      const lost = packs !== this.#packs && [...this.#packs.names].some((name) => !packs.names.has(name));
      this.#packs = packs;
      if (lost) {
        idle.process.kill();
        this.#session = undefined;
      }
    }
    this.#session ??= this.#start();
    return this.#session;
  }

  #start(): Session {
    this.#packs = lookAtPacks(this.#gitDir, NO_PACKS);
    const process = this.#git.start({ args: ['cat-file', '--batch'], gitDir: this.#gitDir, isolated: true });
    const session: Session = { process, waiting: [] };
    const { waiting } = session;
    const parser = new BatchParser(
      () => waiting[0],
      () => {
        waiting.shift();
        if (waiting.length === 0) process.keepAlive(false);
      },
    );
    process.stdout.on('data', (bytes: Buffer) => parser.feed(bytes));
    process.ended.then(
      ({ stderr }) => this.#ended(session, stderr),
      (error: unknown) => this.#failAll(session, error as WaymarkError),
    );
    return session;
  }

  /** Git dies of an object it cannot unpack: that one is damaged, the others are asked of a new process. */
  #ended(session: Session, stderr: string): void {
    if (this.#session === session) this.#session = undefined;
    if (/not a git repository|bad config/.test(stderr)) {
      const reason = `Shadow repository ${this.#gitDir} is damaged: ${stderr.trim()}`;
      this.#failAll(session, new WaymarkError('STORE_CORRUPT', reason));
      return;
    }
    const culprit = session.waiting.shift();
    culprit?.fail(
      new WaymarkError(
        'OBJECT_CORRUPT',
        `Object ${culprit.name} of the shadow repository is damaged: ${stderr.trim()}`,
      ),
    );
    for (const sink of session.waiting.splice(0)) this.#request(sink);
  }

  #failAll(session: Session, error: WaymarkError): void {
    if (this.#session === session) this.#session = undefined;
    for (const sink of session.waiting.splice(0)) sink.fail(error);
  }
}

/** Pieces that may lie in memory before git has to wait. */
const MOST_QUEUED = 4;

interface Packs {
  readonly state: string;
  readonly names: ReadonlySet<string>;
}

const NO_PACKS: Packs = { state: '', names: new Set() };

/** Lists the packs, at the price of one `lstat` while nothing changed. */
function lookAtPacks(gitDir: string, last: Packs): Packs {
  const directory = join(gitDir, 'objects', 'pack');
  const stats = lstatSync(directory, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return NO_PACKS;
  const state = `${stats.ino} ${stats.mtimeNs}`;
  if (state === last.state) return last;
  return { state, names: new Set(readdirSync(directory).filter((name) => name.endsWith('.pack'))) };
}
