import type { Writable } from 'node:stream';
import { isPlainFile, writeWhole } from '../platform/write-whole.ts';

/** The streams of the process, and what may be done with them. */
export interface Terminal {
  /** Standard output: results only. */
  out(text: string | Uint8Array): void;
  /** The same for long streams: waits while the reader is slow. */
  stream(chunk: string | Uint8Array): Promise<void>;
  /** Standard error: hints, warnings, previews, progress. */
  err(text: string): void;
  /** The same for what is said only once, however often it comes up. */
  errOnce(text: string): void;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /** A person can be asked. */
  readonly canAsk: boolean;
  /** columns of standard error, 80 where unknown */
  readonly columns: number;
  readonly colorOut: boolean;
  readonly colorErr: boolean;
  /** Standard output takes no more: its reader has gone, or {@link outputLost}. */
  readonly outputClosed: boolean;
  /** What was to be printed could not be written (a full disk); said on standard error already. */
  readonly outputLost: boolean;
  /** Resolves when all that was written has left the process. */
  flush(): Promise<void>;
}

/** The part of `process` that a terminal needs. */
export interface TerminalHost {
  readonly stdin: { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly fd?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Wraps the streams; a closed pipe is no error, the rest of the output is dropped. Any other failure to write is one ({@link Terminal.outputLost}). */
export function createTerminal(host: TerminalHost): Terminal {
  const { stdin, stdout, stderr, env } = host;
  const closed = { out: false, err: false };
  let lost = false;
  const failed = (error: NodeJS.ErrnoException) => {
    closed.out = true;
    if (error.code === 'EPIPE' || lost) return;
    lost = true;
    err(`waymark: cannot write output: ${error.message}\n`);
  };
  stdout.on('error', failed);
  stderr.on('error', () => {
    closed.err = true;
  });
  const colors = !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  const said = new Set<string>();
  const err = (text: string) => {
    if (!closed.err) stderr.write(text);
  };
  const write = writerTo(stdout, failed);
  return {
    out(text) {
      if (!closed.out) write(text);
    },
    async stream(chunk) {
      if (closed.out || write(chunk)) return;
      await new Promise<void>((resolve) => {
        const done = () => {
          for (const event of ['drain', 'error', 'close']) stdout.off(event, done);
          resolve();
        };
        for (const event of ['drain', 'error', 'close']) stdout.once(event, done);
      });
    },
    err,
    errOnce(text) {
      if (!said.has(text)) err(text);
      said.add(text);
    },
    outIsTerminal: stdout.isTTY === true,
    errIsTerminal: stderr.isTTY === true,
    canAsk: stdin.isTTY === true && stderr.isTTY === true,
    columns: stderr.columns || 80,
    colorOut: stdout.isTTY === true && colors,
    colorErr: stderr.isTTY === true && colors,
    get outputClosed() {
      return closed.out;
    },
    get outputLost() {
      return lost;
    },
    async flush() {
      // A stream tells of an error one turn after the write that met it.
      await new Promise((resolve) => setImmediate(resolve));
      await Promise.all([drained(stdout, () => closed.out), drained(stderr, () => closed.err)]);
    },
  };
}

/** Gives `false` where the reader should be waited for. Node's own stream to a file drops what one call of the system did not take. */
function writerTo(
  stdout: TerminalHost['stdout'],
  failed: (error: NodeJS.ErrnoException) => void,
): (chunk: string | Uint8Array) => boolean {
  const { fd } = stdout;
  if (fd === undefined || stdout.isTTY === true || !isPlainFile(fd)) return (chunk) => stdout.write(chunk);
  return (chunk) => {
    try {
      writeWhole(fd, typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    } catch (error) {
      failed(error as NodeJS.ErrnoException);
    }
    return true;
  };
}

function drained(stream: Writable, isClosed: () => boolean): Promise<void> {
  if (isClosed() || stream.writableLength === 0) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once('error', () => resolve());
    stream.write('', () => resolve());
  });
}
