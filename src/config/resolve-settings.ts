import { join } from 'node:path';
import type { EngineName } from '../domain/checkpoint.ts';
import { quotePath } from '../domain/rel-path.ts';
import { CONFIG_FILE_NAME, type ConfigFile, readConfigFile } from './config-file.ts';
import { strayVariables, valuesOfEnvironment } from './environment-values.ts';
import { valuesOfFile } from './file-values.ts';
import { AGENTS_TABLE, SETTING_KEYS } from './setting-keys.ts';
import type { ResolvedSettings, SettingOrigin, Settings, SettingsInput, Trigger } from './settings.ts';
import { isTrustedContent } from './trust.ts';

/**
 * The one resolver: the environment, then the workspace's `waymark.toml`, then the user's, then the defaults, key by key.
 * Commands in a workspace file that is not trusted are left out, with one warning.
 *
 * @throws WaymarkError `CONFIG_INVALID`
 */
export function resolveSettings(input: SettingsInput): ResolvedSettings {
  const userFile = input.userFile === undefined ? undefined : readConfigFile(input.userFile);
  const workspacePath = join(input.workspace, CONFIG_FILE_NAME);
  const leftOut = input.withoutWorkspaceFile === true || workspacePath === input.userFile;
  const workspaceFile = leftOut ? undefined : readConfigFile(workspacePath);
  const trusted = workspaceFile && withoutUntrusted(workspaceFile, input.home);
  const warnings = [
    ...(trusted?.warning === undefined ? [] : [trusted.warning]),
    ...strayVariables(input.environment).map((name) => `Unknown variable ${name} is ignored`),
  ];
  const sources: readonly Source[] = [
    { origin: 'environment', values: valuesOfEnvironment(input.environment) },
    ...(trusted ? [{ origin: workspacePath, values: trusted.values }] : []),
    ...(userFile ? [{ origin: userFile.path, values: valuesOfFile(userFile) }] : []),
  ];
  const origins = effectiveValues(sources);
  return { settings: settingsOf(origins), origins, warnings, workspaceFile: workspaceFile?.path };
}

interface Source {
  readonly origin: string;
  readonly values: ReadonlyMap<string, unknown>;
}

function withoutUntrusted(
  file: ConfigFile,
  home: string,
): { readonly values: ReadonlyMap<string, unknown>; readonly warning: string | undefined } {
  const values = valuesOfFile(file);
  const commands = [...values.keys()].filter(needsTrust);
  if (commands.length === 0 || isTrustedContent(home, file.path, file.sha256)) {
    return { values, warning: undefined };
  }
  return {
    values: new Map([...values].filter(([key]) => !needsTrust(key))),
    warning: `Ignored ${commands.join(', ')} in ${quotePath(file.path)}: the file is not trusted (see: waymark trust)`,
  };
}

/** Tells whether a key names a command, which a workspace file may only give once it is trusted. */
export function needsTrust(key: string): boolean {
  return (
    key.startsWith(`${AGENTS_TABLE}.`) || SETTING_KEYS.some((known) => known.key === key && known.needsTrust)
  );
}

function effectiveValues(sources: readonly Source[]): readonly SettingOrigin[] {
  const agents = new Set(
    sources.flatMap(({ values }) => [...values.keys()].filter((key) => key.startsWith(`${AGENTS_TABLE}.`))),
  );
  const keys = [...SETTING_KEYS, ...[...agents].sort().map((key) => ({ key, standard: undefined }))];
  return keys.map(({ key, standard }) => {
    const source = sources.find(({ values }) => values.has(key));
    return source
      ? { key, value: source.values.get(key), origin: source.origin }
      : { key, value: standard, origin: 'default' };
  });
}

function settingsOf(origins: readonly SettingOrigin[]): Settings {
  const values = new Map(origins.map(({ key, value }) => [key, value]));
  const value = <T>(key: string): T => values.get(key) as T;
  return {
    engine: value<EngineName>('store.engine'),
    limits: {
      maxFileBytes: value('limits.max_file_bytes'),
      maxTotalBytes: value('limits.max_total_bytes'),
      maxFiles: value('limits.max_files'),
    },
    scope: { include: value('scope.include'), exclude: value('scope.exclude') },
    retention: {
      keep: value('retention.keep'),
      gitKeep: value('store.git.keep'),
      maxAgeMs: value('retention.max_age'),
      maxStoreBytes: value('retention.max_store_bytes'),
    },
    autoCreateOn: value<readonly Trigger[]>('core.checkpoints.auto_create_on'),
    maxCheckpoints: value('core.checkpoints.max_checkpoints'),
    autoPrune: value('core.checkpoints.auto_prune'),
    restoreVerify: value('restore.verify'),
    worktreeSetup: value('worktree.setup'),
    agents: Object.fromEntries(
      [...values]
        .filter(([key]) => key.startsWith(`${AGENTS_TABLE}.`))
        .map(([key, argv]) => [key.slice(AGENTS_TABLE.length + 1), argv as readonly string[]]),
    ),
  };
}
