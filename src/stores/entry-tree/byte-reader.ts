import { WaymarkError } from '../../domain/errors.ts';

/** Reads what {@link ByteWriter} wrote, up to `end`. Throws `MANIFEST_INVALID` instead of reading past it. */
export class ByteReader {
  readonly #buffer: Buffer;
  #at: number;
  #end: number;

  constructor(buffer: Buffer, at = 0, end = buffer.length) {
    this.#buffer = buffer;
    this.#at = at;
    this.#end = end;
  }

  get at(): number {
    return this.#at;
  }

  get remaining(): number {
    return this.#end - this.#at;
  }

  /** Narrows reading to the next `length` bytes and returns the end of what was readable before, for {@link leave}. */
  enter(length: number): number {
    if (length > this.remaining) throw truncated();
    const outer = this.#end;
    this.#end = this.#at + length;
    return outer;
  }

  /** Skips what is left of the part entered and widens reading again. */
  leave(outer: number): void {
    this.#at = this.#end;
    this.#end = outer;
  }

  byte(): number {
    const value = this.#at < this.#end ? this.#buffer[this.#at] : undefined;
    if (value === undefined) throw truncated();
    this.#at += 1;
    return value;
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < 8; count += 1) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        return value;
      }
      scale *= 0x80;
    }
    throw new WaymarkError('MANIFEST_INVALID', 'A number in an entry tree is too large');
  }

  bigVarint(): bigint {
    const start = this.#at;
    let length = 1;
    while (this.byte() >= 0x80) length += 1;
    if (length <= 7) {
      this.#at = start;
      return BigInt(this.varint());
    }
    if (length > 16) throw new WaymarkError('MANIFEST_INVALID', 'A number in an entry tree is too large');
    let value = 0n;
    for (let at = this.#at - 1; at >= start; at -= 1) {
      value = (value << 7n) | BigInt((this.#buffer[at] ?? 0) & 0x7f);
    }
    return value;
  }

  /** A view, not a copy. */
  bytes(length: number): Buffer {
    if (length > this.remaining) throw truncated();
    this.#at += length;
    return this.#buffer.subarray(this.#at - length, this.#at);
  }

  /** 32 raw bytes as hex. */
  hash(): string {
    if (this.remaining < 32) throw truncated();
    this.#at += 32;
    return this.#buffer.toString('hex', this.#at - 32, this.#at);
  }
}

function truncated(): WaymarkError {
  return new WaymarkError('MANIFEST_INVALID', 'A node of an entry tree ends too early');
}
