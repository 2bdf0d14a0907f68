import { type StringSection, sectionOf } from '../string-section.ts';

/**
 * The names of a table's rows. Those that came from a section are cut out of its text when they are asked for: a walk that finds everything
 * unchanged asks for few.
 */
export class NameColumn {
  readonly #section: StringSection;
  /** names of the rows after the section's */
  readonly #added: string[];

  constructor(section: StringSection = sectionOf([]), added: string[] = []) {
    this.#section = section;
    this.#added = added;
  }

  get length(): number {
    return this.#section.count + this.#added.length;
  }

  at(row: number): string {
    const { count } = this.#section;
    return row < count ? this.#section.at(row) : (this.#added[row - count] as string);
  }

  /** Names a row after those of the section: one of its rows never gets another name. */
  set(row: number, name: string): void {
    this.#added[row - this.#section.count] = name;
  }

  /** Forgets the last rows. */
  shrinkTo(rows: number): void {
    this.#added.length = Math.max(0, rows - this.#section.count);
  }

  slice(start: number, end: number): string[] {
    return Array.from({ length: end - start }, (_, at) => this.at(start + at));
  }

  copy(): NameColumn {
    return new NameColumn(this.#section, this.#added.slice());
  }
}
