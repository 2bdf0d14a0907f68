import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { WaymarkError } from '../../../domain/errors.ts';
import { encodeName } from '../../../domain/rel-path.ts';
import { syncDirectory } from '../../../platform/durable-write.ts';
import { writeTo } from '../../../platform/feed.ts';
import { gitFailed } from '../../../platform/git-failure.ts';
import type { GitProcess } from '../../../platform/git-process.ts';
import type { ShadowContext } from './shadow-context.ts';

/** Git's name of an object: 40 hex digits. */
export type ObjectName = string;

export const EMPTY_TREE: ObjectName = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** File modes that a git tree knows. */
export type TreeMode = '100644' | '100755' | '120000' | '040000';

/** One change of a commit's tree; paths in `decodeName` form, `''` is the root. */
export type TreeChange =
  | { readonly path: string; readonly object: ObjectName; readonly mode: TreeMode }
  | { readonly path: string; readonly object: undefined };

const BUFFER = 128 * 1024;

const ARGS = [
  // what a snapshot brings lies in one pack; measured 20,000 files: 0.5 s
  ...['-c', 'fastimport.unpackLimit=0', '-c', 'core.compression=1', '-c', 'pack.compression=1'],
  ...['fast-import', '--quiet', '--force', '--depth=0', '--date-format=raw', '--done'],
] as const;

/** Git's name for a blob. */
export function blobName(content: Uint8Array): ObjectName {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

/**
 * Writes objects and refs through one `git fast-import`: content comes from us, git never looks at the workspace. Nothing is visible before
 * {@link finish}, which makes all of it durable.
 */
export class FastImport {
  readonly #context: ShadowContext;
  readonly #process: GitProcess;
  readonly #answers: Buffer[] = [];
  #pending: (Uint8Array | string)[] = [];
  #pendingBytes = 0;
  #marks = 0;

  /** @param refs `durable`: they survive a power cut; `passing`: they only keep objects from a collection in between */
  constructor(context: ShadowContext, refs: 'durable' | 'passing') {
    this.#context = context;
    const args = refs === 'durable' ? ARGS : ['-c', 'core.fsync=pack,pack-metadata', ...ARGS];
    this.#process = context.git.start({ args, gitDir: context.gitDir, isolated: true });
    this.#process.stdout.on('data', (chunk: Buffer) => this.#answers.push(chunk));
  }

  /** Adds a blob. One that a pack holds already is not written again. Undefined: there is room for more at once. */
  blob(content: Uint8Array): Promise<void> | undefined {
    this.#push(`blob\ndata ${content.length}\n`, content, '\n');
    return this.#pendingBytes > BUFFER ? this.#flush(BUFFER) : undefined;
  }

  /** Adds a blob of `size` bytes in pieces. What is missing is padded with zeros, what is too much is cut off. */
  async blobOf(size: number, pieces: Iterable<Uint8Array>): Promise<void> {
    this.#push(`blob\ndata ${size}\n`);
    let left = size;
    for (const piece of pieces) {
      const part = piece.subarray(0, left);
      left -= part.length;
      if (part.length > 0) this.#push(part);
      await this.#flush(BUFFER);
    }
    for (; left > 0; left -= Math.min(left, BUFFER)) {
      this.#push(Buffer.alloc(Math.min(left, BUFFER)));
      await this.#flush(BUFFER);
    }
    this.#push('\n');
  }

  /**
   * Puts a parentless commit under `ref`, whose tree is what the changes make of nothing. Returns its mark for {@link ask}.
   *
   * @param date seconds since the epoch
   */
  async commit(
    ref: string,
    author: { readonly email: string; readonly date: number },
    message: string,
    changes: Iterable<TreeChange>,
  ): Promise<string> {
    this.#marks += 1;
    const mark = `:${this.#marks}`;
    const who = `Waymark <${author.email}> ${author.date} +0000`;
    const text = Buffer.from(message);
    this.#push(`commit ${ref}\nmark ${mark}\nauthor ${who}\ncommitter ${who}\n`);
    this.#push(`data ${text.length}\n`, text, '\n');
    for (const { path, ...change } of changes) {
      if (change.object === undefined) this.#push('D ');
      else this.#push(`M ${change.mode} ${change.object} `);
      this.#push(quoted(path), '\n');
      await this.#flush(BUFFER);
    }
    this.#push('\n');
    return mark;
  }

  /** Asks for the object at a path of a commit; the answers come with {@link finish}, in order. */
  ask(mark: string, path: string): void {
    this.#push(`ls ${mark} `, quoted(path), '\n');
  }

  /** Asks for a commit's own name. */
  askName(mark: string): void {
    this.#push(`get-mark ${mark}\n`);
  }

  /**
   * Makes everything durable, then the refs visible. Returns one answer per question; undefined where there is nothing at that path.
   *
   * @throws WaymarkError `NO_SPACE`, `OBJECT_MISSING`, `GIT_FAILED`; nothing is left behind then
   */
  async finish(): Promise<readonly (ObjectName | undefined)[]> {
    this.#push('done\n');
    await this.#flush(0);
    this.#process.stdin.end();
    const { exitCode, stderr } = await this.#process.ended;
    if (exitCode !== 0) {
      this.#sweepFailure();
      throw failure(exitCode, stderr, this.#context.gitDir);
    }
    syncDirectory(this.#context.fs, join(this.#context.gitDir, 'objects', 'pack'));
    return Buffer.concat(this.#answers)
      .toString('latin1')
      .split('\n')
      .slice(0, -1)
      .map((line) => /^(?:040000 tree )?([0-9a-f]{40})/.exec(line)?.[1]);
  }

  /** Ends the import without a result. */
  async abandon(): Promise<void> {
    this.#process.kill();
    await this.#process.ended.catch(() => undefined);
    this.#sweepFailure();
  }

  #push(...pieces: (Uint8Array | string)[]): void {
    for (const piece of pieces) this.#pendingBytes += piece.length;
    this.#pending.push(...pieces);
  }

  async #flush(limit: number): Promise<void> {
    if (this.#pendingBytes <= limit) return;
    const data = Buffer.concat(
      this.#pending.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)),
    );
    this.#pending = [];
    this.#pendingBytes = 0;
    if (await writeTo(this.#process.stdin, data)) return;
    const { exitCode, stderr } = await this.#process.ended;
    this.#sweepFailure();
    throw failure(exitCode, stderr, this.#context.gitDir);
  }

  /** A failed import leaves a partial pack, which may be what filled the disk, and a crash report. Only we write packs, under the stage lock. */
  #sweepFailure(): void {
    const { fs, gitDir } = this.#context;
    const packs = join(gitDir, 'objects', 'pack');
    for (const name of readdirSync(packs))
      if (/^tmp_(pack|idx)_|\.keep$/.test(name)) fs.unlink(join(packs, name));
    for (const name of readdirSync(gitDir))
      if (name.startsWith('fast_import_crash_')) fs.unlink(join(gitDir, name));
  }
}

function failure(exitCode: number, stderr: string, gitDir: string): WaymarkError {
  const missing = /(?:not found: M|Blob not found|Tree not found|Missing blob|missing tree).*/i.exec(
    stderr,
  )?.[0];
  if (missing !== undefined)
    return new WaymarkError('OBJECT_MISSING', `The shadow repository lacks an object: ${missing}`);
  return gitFailed(['fast-import'], exitCode, reasonIn(stderr), gitDir);
}

/** The line that says why it ended; warnings come before it, the notice of a crash report after it. */
function reasonIn(stderr: string): string {
  const lines = stderr.split('\n');
  return lines.find((line) => line.startsWith('fatal:')) ?? lines[0] ?? '';
}

const PLAIN = /^[ !#-[\]-~]*$/;

/** A path in C quotes: every byte but `"`, `\` and line feed stands for itself. */
function quoted(path: string): Buffer | string {
  if (PLAIN.test(path)) return `"${path}"`;
  const out: number[] = [0x22];
  for (const byte of encodeName(path)) {
    if (byte === 0x0a) out.push(0x5c, 0x6e);
    else {
      if (byte === 0x22 || byte === 0x5c) out.push(0x5c);
      out.push(byte);
    }
  }
  out.push(0x22);
  return Buffer.from(out);
}
