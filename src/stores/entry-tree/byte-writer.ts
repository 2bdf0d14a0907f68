const MOST_EXACT = BigInt(Number.MAX_SAFE_INTEGER);

/** A growing buffer for the binary node formats: bytes, LEB128 varints, raw hashes. */
export class ByteWriter {
  #buffer = Buffer.allocUnsafe(2048);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  reset(): void {
    this.#length = 0;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = value;
  }

  /** Unsigned, up to 2^53 - 1. */
  varint(value: number): void {
    this.#reserve(8);
    let rest = value;
    for (; rest >= 2 ** 31; rest = Math.floor(rest / 0x80)) {
      this.#buffer[this.#length++] = (rest % 0x80) + 0x80;
    }
    for (; rest >= 0x80; rest >>>= 7) this.#buffer[this.#length++] = (rest & 0x7f) + 0x80;
    this.#buffer[this.#length++] = rest;
  }

  /** Unsigned, of any size. */
  bigVarint(value: bigint): void {
    let rest = value;
    while (rest > MOST_EXACT) {
      this.byte(Number(rest & 0x7fn) + 0x80);
      rest >>= 7n;
    }
    this.varint(Number(rest));
  }

  bytes(data: Uint8Array, from = 0): void {
    const count = data.length - from;
    this.#reserve(count);
    this.#buffer.set(from === 0 ? data : data.subarray(from), this.#length);
    this.#length += count;
  }

  /** 32 raw bytes of a hash given in hex. */
  hash(hex: string): void {
    this.#reserve(32);
    this.#buffer.write(hex, this.#length, 32, 'hex');
    this.#length += 32;
  }

  /** What a string of ASCII characters alone has from `from` on. */
  ascii(text: string, from: number): void {
    this.#reserve(text.length - from);
    for (let at = from; at < text.length; at += 1) this.#buffer[this.#length++] = text.charCodeAt(at);
  }

  /** Starts something that its length goes before, as a varint; give the answer to {@link end}. */
  begin(): number {
    this.byte(0);
    return this.#length;
  }

  end(start: number): void {
    const length = this.#length - start;
    if (length < 0x80) {
      this.#buffer[start - 1] = length;
      return;
    }
    const body = Buffer.from(this.#buffer.subarray(start, this.#length));
    this.#length = start - 1;
    this.varint(length);
    this.bytes(body);
  }

  /** A copy of what was written. */
  finish(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.#length));
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + count));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
