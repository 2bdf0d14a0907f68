import { WaymarkError } from '../domain/errors.ts';

/** The options of one invocation, by their long name in camel case, as the parser left them. */
export class Options {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === 'string' ? value : undefined;
  }

  /** The values of an option that may be given several times. */
  list(name: string): readonly string[] {
    const value = this.#values[name];
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  }

  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  /** A number of seconds as milliseconds. @throws WaymarkError `USAGE` */
  seconds(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const seconds = Number(text);
    if (text.trim() === '' || !(seconds >= 0 && seconds <= 1e9)) {
      throw new WaymarkError('USAGE', `--${dashed(name)} needs a number of seconds, not "${text}"`);
    }
    return Math.round(seconds * 1000);
  }

  /** A positive whole number. @throws WaymarkError `USAGE` */
  count(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (!/^[1-9]\d{0,14}$/.test(text)) {
      throw new WaymarkError('USAGE', `--${dashed(name)} needs a positive number, not "${text}"`);
    }
    return Number(text);
  }

  /** One of `choices`. @throws WaymarkError `USAGE` */
  choice<const T extends string>(name: string, choices: readonly T[]): T | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const chosen = choices.find((choice) => choice === text);
    if (chosen === undefined) {
      throw new WaymarkError(
        'USAGE',
        `--${dashed(name)} must be one of ${choices.join(', ')}, not "${text}"`,
      );
    }
    return chosen;
  }
}

/** `{ [key]: value }`, or nothing where the value is undefined: for options that must be left out. */
export function given<K extends string, V>(key: K, value: V | undefined): { readonly [name in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [name in K]?: V });
}

function dashed(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
