import { WaymarkError } from '../domain/errors.ts';
import { quotePath } from '../domain/rel-path.ts';
import type { ConfigFile } from './config-file.ts';
import { locateKey } from './locate-key.ts';
import { AGENTS_TABLE, SETTING_KEYS } from './setting-keys.ts';
import { readers, type SettingReader } from './setting-readers.ts';

/**
 * Takes the values out of a parsed file, by dotted key, checked.
 *
 * @throws WaymarkError `CONFIG_INVALID` for unknown keys, wrong types and numbers out of range, naming file, line and key
 */
export function valuesOfFile(file: ConfigFile): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>();
  collect(file, file.table, [], values);
  return values;
}

function collect(
  file: ConfigFile,
  table: Readonly<Record<string, unknown>>,
  above: readonly string[],
  values: Map<string, unknown>,
): void {
  for (const [name, raw] of Object.entries(table)) {
    const path = [...above, name];
    const key = path.join('.');
    const reader = readerOf(path);
    if (reader) values.set(key, read(file, key, reader, raw));
    else if (!isSection(key)) throw unknownKey(file, key, above.join('.'));
    else if (isTable(raw)) collect(file, raw, path, values);
    else throw invalid(file, key, `must be a table: write [${key}]`);
  }
}

function readerOf(path: readonly string[]): SettingReader | undefined {
  if (path.length === 2 && path[0] === AGENTS_TABLE) return readers.argv();
  const key = path.join('.');
  return path.some((part) => part.includes('.'))
    ? undefined
    : SETTING_KEYS.find((setting) => setting.key === key)?.read;
}

function read(file: ConfigFile, key: string, reader: SettingReader, raw: unknown): unknown {
  const reading = reader.fromFile(raw);
  if (reading.ok) return reading.value;
  throw invalid(file, key, `must be ${reading.expected}, not ${show(raw)}`);
}

function isSection(key: string): boolean {
  return key === AGENTS_TABLE || SETTING_KEYS.some((setting) => setting.key.startsWith(`${key}.`));
}

function isTable(raw: unknown): raw is Readonly<Record<string, unknown>> {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw) && !(raw instanceof Date);
}

function unknownKey(file: ConfigFile, key: string, section: string): WaymarkError {
  const prefix = section === '' ? '' : `${section}.`;
  const known = SETTING_KEYS.map((setting) => setting.key).filter((name) => name.startsWith(prefix));
  return invalid(file, key, 'is not a known key', `Known: ${known.join(', ')}`);
}

function invalid(file: ConfigFile, key: string, problem: string, hint?: string): WaymarkError {
  const line = locateKey(file.text, key);
  const where = line === undefined ? quotePath(file.path) : `${quotePath(file.path)}:${line}`;
  return new WaymarkError('CONFIG_INVALID', `${where}: ${key} ${problem}`, {
    ...(hint === undefined ? {} : { hint }),
    details: { file: file.path, key, line: line ?? null },
  });
}

function show(raw: unknown): string {
  const text = raw instanceof Date ? raw.toISOString() : (JSON.stringify(raw) ?? String(raw));
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
