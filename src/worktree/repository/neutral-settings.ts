import { WaymarkError } from '../../domain/errors.ts';
import { quotePath } from '../../domain/rel-path.ts';
import type { Git, GitCommand } from '../../platform/git-process.ts';
import { nulSeparated } from './git-output.ts';

type Place = Pick<GitCommand, 'cwd' | 'gitDir' | 'workTree'>;

/** Settings under which git looks at every byte itself, whatever the repository's configuration says. */
const FIXED: readonly (readonly [string, string])[] = [
  ['core.trustctime', 'true'],
  ['core.checkStat', 'default'],
  ['submodule.recurse', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
];

/** A place in a repository where no configured program runs. */
export interface NeutralPlace extends Place {
  /** `GIT_CONFIG_*` variables that switch off every configured filter (and with them the conversion it does) */
  readonly env: Readonly<Record<string, string>>;
  /** names of the filter drivers that are configured and off */
  readonly filters: readonly string[];
}

/**
 * Finds the filter drivers that configuration names for `place` (conditional includes counted) and the variables that switch them off.
 * The variables, unlike `-c`, can hold any driver name that is UTF-8.
 *
 * @throws WaymarkError `REPOSITORY_UNSUPPORTED` for a driver name that is not
 */
export async function neutralPlace(git: Git, place: Place): Promise<NeutralPlace> {
  const { stdout } = await git.run({ ...place, args: ['config', '--list', '--name-only', '-z'] });
  const filters = new Set<string>();
  for (const key of nulSeparated(stdout)) {
    const match = /^filter\.(.+)\.[^.]+$/s.exec(key);
    if (match?.[1] === undefined) continue;
    if (!match[1].isWellFormed()) {
      throw new WaymarkError(
        'REPOSITORY_UNSUPPORTED',
        `The filter ${quotePath(match[1])} has a name that is not UTF-8 and cannot be switched off`,
      );
    }
    filters.add(match[1]);
  }
  const settings = [...FIXED, ...[...filters].flatMap(switchedOff)];
  return { ...place, env: settingsEnvironment(settings), filters: [...filters] };
}

/** The variables that give git settings for one command, over those of any file. */
export function settingsEnvironment(
  settings: readonly (readonly [string, string])[],
): Readonly<Record<string, string>> {
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(settings.length) };
  settings.forEach(([key, value], at) => {
    env[`GIT_CONFIG_KEY_${at}`] = key;
    env[`GIT_CONFIG_VALUE_${at}`] = value;
  });
  return env;
}

function switchedOff(driver: string): (readonly [string, string])[] {
  return [
    [`filter.${driver}.smudge`, ''],
    [`filter.${driver}.clean`, ''],
    [`filter.${driver}.process`, ''],
    [`filter.${driver}.required`, 'false'],
  ];
}
