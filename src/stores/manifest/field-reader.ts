import { WaymarkError } from '../../domain/errors.ts';

/** Reads typed fields out of parsed JSON. Every method throws `MANIFEST_INVALID` naming the file and the field. */
export class FieldReader {
  readonly #object: Readonly<Record<string, unknown>>;
  readonly #where: string;

  constructor(object: Readonly<Record<string, unknown>>, where: string) {
    this.#object = object;
    this.#where = where;
  }

  text(key: string): string {
    const value = this.#object[key];
    return typeof value === 'string' ? value : this.bad(key);
  }

  textOrNull(key: string): string | null {
    return this.#object[key] == null ? null : this.text(key);
  }

  optionalText(key: string): string | undefined {
    return this.textOrNull(key) ?? undefined;
  }

  /** A whole number from 0. */
  count(key: string): number {
    const value = this.#object[key];
    return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : this.bad(key);
  }

  boolean(key: string): boolean {
    const value = this.#object[key];
    return typeof value === 'boolean' ? value : this.bad(key);
  }

  /** A text that `parse` takes. */
  parsed<T>(key: string, parse: (text: string) => T): T {
    const text = this.text(key);
    try {
      return parse(text);
    } catch (error) {
      return this.bad(key, error);
    }
  }

  parsedOrNull<T>(key: string, parse: (text: string) => T): T | null {
    return this.#object[key] == null ? null : this.parsed(key, parse);
  }

  object(key: string): FieldReader {
    return new FieldReader(this.record(key), `${this.#where}, ${key}`);
  }

  objectOrNull(key: string): FieldReader | null {
    return this.#object[key] == null ? null : this.object(key);
  }

  /** The object itself, whatever it holds. */
  record(key: string): Readonly<Record<string, unknown>> {
    const value = this.#object[key];
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return this.bad(key);
    return value as Readonly<Record<string, unknown>>;
  }

  has(key: string): boolean {
    return this.#object[key] != null;
  }

  list(key: string): readonly FieldReader[] {
    const value = this.#object[key];
    if (!Array.isArray(value)) return this.bad(key);
    return value.map((item: unknown, at) => {
      if (typeof item !== 'object' || item === null) return this.bad(`${key}[${at}]`);
      return new FieldReader(item as Record<string, unknown>, `${this.#where}, ${key}[${at}]`);
    });
  }

  bad(key: string, cause?: unknown): never {
    throw new WaymarkError('MANIFEST_INVALID', `${this.#where} has a bad field "${key}"`, { cause });
  }
}
