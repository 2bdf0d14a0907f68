import { parseByteSize } from './byte-size.ts';
import { parseDuration } from './duration.ts';

/** What a reader makes of a raw value: the effective one, or what it must be instead. */
export type Reading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly expected: string };

/** Reads a value as TOML gives it. */
export type SettingReader = {
  readonly fromFile: (raw: unknown) => Reading;
  /** Reads the text of an environment variable. */
  readonly fromText: (text: string) => Reading;
};

const good = (value: unknown): Reading => ({ ok: true, value });
const bad = (expected: string): Reading => ({ ok: false, expected });

function integer(min: number, max: number): SettingReader {
  const check = (raw: unknown): Reading =>
    Number.isSafeInteger(raw) && (raw as number) >= min && (raw as number) <= max
      ? good(raw)
      : bad(`a whole number from ${min} to ${max}`);
  return { fromFile: check, fromText: (text) => check(/^\s*-?\d+\s*$/.test(text) ? Number(text) : text) };
}

function size(min: number, max: number): SettingReader {
  const check = (raw: unknown): Reading => {
    const bytes = typeof raw === 'string' ? parseByteSize(raw) : raw;
    return Number.isSafeInteger(bytes) && (bytes as number) >= min && (bytes as number) <= max
      ? good(bytes)
      : bad('a size such as "8MiB" or a positive number of bytes');
  };
  return { fromFile: check, fromText: check };
}

function duration(min: number, max: number): SettingReader {
  const check = (raw: unknown): Reading => {
    const ms = typeof raw === 'string' ? parseDuration(raw) : undefined;
    return ms !== undefined && ms >= min && ms <= max
      ? good(ms)
      : bad('a duration of at least one second such as "30d" or "12h"');
  };
  return { fromFile: check, fromText: check };
}

function boolean(): SettingReader {
  return {
    fromFile: (raw) => (typeof raw === 'boolean' ? good(raw) : bad('true or false')),
    fromText: (text) => {
      const lower = text.trim().toLowerCase();
      if (['true', '1', 'yes', 'on'].includes(lower)) return good(true);
      return ['false', '0', 'no', 'off'].includes(lower) ? good(false) : bad('true or false');
    },
  };
}

function oneOf(names: readonly string[]): SettingReader {
  const check = (raw: unknown): Reading =>
    names.includes(raw as string) ? good(raw) : bad(`one of ${names.join(', ')}`);
  return { fromFile: check, fromText: (text) => check(text.trim()) };
}

function someOf(names: readonly string[]): SettingReader {
  const check = (raw: unknown): Reading => {
    const expected = `a list of ${names.join(', ')}`;
    if (!Array.isArray(raw)) return bad(expected);
    const stranger = raw.find((name) => !names.includes(name as string));
    if (stranger !== undefined) return bad(`${expected} (unknown: ${JSON.stringify(stranger)})`);
    return good([...new Set(raw as string[])]);
  };
  return { fromFile: check, fromText: (text) => check(listFromText(text)) };
}

/** Patterns in gitignore syntax, relative to the workspace; none may climb out of it. */
function patterns(): SettingReader {
  const check = (raw: unknown): Reading => {
    const fits =
      Array.isArray(raw) &&
      raw.every(
        (item) => typeof item === 'string' && item.trim() !== '' && !/[\0\n\r]/.test(item) && !climbs(item),
      );
    return fits ? good([...raw]) : bad('a list of gitignore patterns that stay below the workspace');
  };
  return { fromFile: check, fromText: (text) => check(listFromText(text)) };
}

function command(): SettingReader {
  const check = (raw: unknown): Reading =>
    typeof raw === 'string' && raw.trim() !== '' && !raw.includes('\0') ? good(raw) : bad('a command line');
  return { fromFile: check, fromText: check };
}

function argv(): SettingReader {
  const check = (raw: unknown): Reading =>
    Array.isArray(raw) &&
    raw.length > 0 &&
    raw.every((item) => typeof item === 'string' && !item.includes('\0')) &&
    raw[0] !== ''
      ? good([...raw])
      : bad('a list of words such as ["claude", "-p"]');
  return { fromFile: check, fromText: (text) => check(listFromText(text)) };
}

function climbs(pattern: string): boolean {
  return pattern.split('/').includes('..');
}

/** A list in a variable: a JSON array, or words separated by commas; empty text is the empty list. */
function listFromText(text: string): unknown {
  if (text.trimStart().startsWith('[')) {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return text;
    }
  }
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** The kinds of value that `waymark.toml` knows. */
export const readers = { integer, size, duration, boolean, oneOf, someOf, patterns, command, argv };
