import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';

/** git's base 85: no quotes, no backslash, no comma. */
const DIGITS = Buffer.from(
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~',
);
/** Bytes that one line holds; its first character tells how many: A-Z for 1-26, a-z for 27-52. */
const LINE = 52;
/** Lines to a piece. */
const PIECE = 1000;

const NO_BLOB = '0'.repeat(40);

/** The `index` line that `git apply` checks a binary patch by; undefined stands for no file. Names are SHA-1, as in all but few repositories. */
export function indexLine(from: Buffer | undefined, to: Buffer | undefined): string {
  return `index ${blobName(from)}..${blobName(to)}\n`;
}

/** A `GIT binary patch` that replaces the whole content, and back again, in pieces. */
export function* binaryPatch(from: Buffer | undefined, to: Buffer | undefined): Generator<string> {
  yield 'GIT binary patch\n';
  yield* literal(to ?? Buffer.alloc(0));
  yield* literal(from ?? Buffer.alloc(0));
}

function* literal(content: Buffer): Generator<string> {
  yield `literal ${content.length}\n`;
  const packed = deflateSync(content);
  for (let at = 0; at < packed.length; at += LINE * PIECE)
    yield lines(packed.subarray(at, at + LINE * PIECE));
  yield '\n';
}

function lines(bytes: Buffer): string {
  const count = Math.ceil(bytes.length / LINE);
  const out = Buffer.allocUnsafe(count * (2 + (LINE / 4) * 5));
  let end = 0;
  for (let at = 0; at < bytes.length; at += LINE) {
    const length = Math.min(LINE, bytes.length - at);
    out[end++] = length <= 26 ? 0x40 + length : 0x60 + length - 26;
    for (let group = at; group < at + length; group += 4) {
      let value = 0;
      for (let byte = group; byte < group + 4; byte += 1) value = value * 256 + (bytes[byte] ?? 0);
      for (let digit = 4; digit >= 0; digit -= 1) {
        out[end + digit] = DIGITS[value % 85] ?? 0;
        value = Math.floor(value / 85);
      }
      end += 5;
    }
    out[end++] = 0x0a;
  }
  return out.toString('latin1', 0, end);
}

function blobName(content: Buffer | undefined): string {
  if (content === undefined) return NO_BLOB;
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}
