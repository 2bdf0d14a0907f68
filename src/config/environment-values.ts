import { WaymarkError } from '../domain/errors.ts';
import { SETTING_KEYS, variableOf } from './setting-keys.ts';

/** Variables of Waymark that are no settings. */
const OTHER_VARIABLES: ReadonlySet<string> = new Set([
  'WAYMARK_HOME',
  'WAYMARK_SESSION',
  'WAYMARK_RUN',
  'WAYMARK_ENCLOSING_RUNS',
  'WAYMARK_DEBUG',
]);

/**
 * Takes the overriding values out of the environment, by dotted key, checked. An empty variable counts as unset, but
 * for lists, where it is the empty list.
 *
 * @throws WaymarkError `CONFIG_INVALID` naming the variable
 */
export function valuesOfEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>();
  for (const { key, read, standard } of SETTING_KEYS) {
    const variable = variableOf(key);
    const text = environment[variable];
    if (text === undefined || (text.trim() === '' && !Array.isArray(standard))) continue;
    const reading = read.fromText(text);
    if (!reading.ok) {
      throw new WaymarkError(
        'CONFIG_INVALID',
        `${variable} must be ${reading.expected}, not ${JSON.stringify(text)}`,
        { details: { key, variable } },
      );
    }
    values.set(key, reading.value);
  }
  return values;
}

/** `WAYMARK_*` variables that mean nothing, sorted: most likely misspelt. */
export function strayVariables(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const known = new Set([...OTHER_VARIABLES, ...SETTING_KEYS.map(({ key }) => variableOf(key))]);
  return Object.keys(environment)
    .filter((name) => name.startsWith('WAYMARK_') && environment[name] !== undefined && !known.has(name))
    .sort();
}
