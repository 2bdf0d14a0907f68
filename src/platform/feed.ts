import { once } from 'node:events';
import type { Writable } from 'node:stream';

/**
 * Writes `input` to a process's standard input with back-pressure and ends it. A process that stops reading ends the feeding quietly
 * (its exit code tells); what the input itself throws is thrown.
 */
export async function feed(
  stream: Writable,
  input: Uint8Array | string | AsyncIterable<Uint8Array> | undefined,
): Promise<void> {
  if (input === undefined || typeof input === 'string' || input instanceof Uint8Array) {
    stream.end(input);
    return;
  }
  for await (const chunk of input) if (!(await writeTo(stream, chunk))) return;
  stream.end();
}

/** Writes one piece and waits until there is room for more. Returns false where the reader is gone. */
export async function writeTo(stream: Writable, chunk: Uint8Array | string): Promise<boolean> {
  if (stream.destroyed || stream.errored) return false;
  if (stream.write(chunk)) return true;
  const gone = new AbortController();
  try {
    await Promise.race([
      once(stream, 'drain', { signal: gone.signal }),
      once(stream, 'close', { signal: gone.signal }),
    ]);
  } catch {
    return false;
  } finally {
    gone.abort();
  }
  return !stream.destroyed;
}
