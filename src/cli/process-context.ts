import { realpathSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { isWaymarkError, WaymarkError } from '../domain/errors.ts';
import { decodeName, quotePath, toFsPath } from '../domain/rel-path.ts';
import type { WaymarkHome } from '../waymark-home.ts';
import type { CommandContext } from './context.ts';
import type { Format } from './format.ts';
import { type Locations, locations } from './locations.ts';
import type { Options } from './options.ts';
import { printWarning } from './render/print-result.ts';
import type { Terminal } from './terminal.ts';

/** Builds the context of this process; {@link AsyncDisposable} closes what was opened. */
export function processContext(
  environment: Readonly<Record<string, string | undefined>>,
  options: Options,
  parts: { readonly terminal: Terminal; readonly format: Format; readonly signal: AbortSignal },
): CommandContext & AsyncDisposable {
  const cwd = currentDirectory();
  const places = locations(environment, cwd);
  let opened: Promise<WaymarkHome> | undefined;

  const waymark: CommandContext['waymark'] = ({ rebuildCatalog } = { rebuildCatalog: false }) => {
    opened ??= openWaymarkOf(environment, places, rebuildCatalog);
    return opened;
  };
  const workspaceDirectory = once(async () => {
    const named = options.text('workspace');
    return named === undefined
      ? await (await waymark()).findWorkspaceDirectory(cwd)
      : realDirectory(named, cwd);
  });
  const settings = once(async () => {
    const { resolveSettings } = await import('../config/resolve-settings.ts');
    return resolveSettings({
      workspace: await workspaceDirectory(),
      home: places.home,
      userFile: places.userFile,
      environment,
    });
  });
  /** A file that can't be read is the affair of the operation: those that go back do without it, the others fail. */
  const settingsWarnings = async (): Promise<readonly string[]> => {
    try {
      return (await settings()).warnings;
    } catch (error) {
      if (isWaymarkError(error, 'CONFIG_INVALID')) return [];
      throw error;
    }
  };
  const workspace = once(async () => {
    const directory = await workspaceDirectory();
    for (const warning of await settingsWarnings()) printWarning(parts.terminal, warning);
    return (await waymark()).openWorkspace(directory, { allowRoot: options.flag('allowRoot') });
  });

  return {
    ...parts,
    cwd,
    environment,
    locations: places,
    waymark,
    workspaceDirectory,
    settings,
    workspace,
    async fileSystem() {
      return (await import('../platform/node-file-system.ts')).createFileSystem();
    },
    async isSession(word) {
      try {
        return (await (await waymark()).listCheckpoints({ session: word })).length > 0;
      } catch (error) {
        if (isWaymarkError(error, 'SESSION_NOT_FOUND', 'VALIDATION_ERROR')) return false;
        throw error;
      }
    },
    async [Symbol.asyncDispose]() {
      await (await opened?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}

async function openWaymarkOf(
  environment: Readonly<Record<string, string | undefined>>,
  { home, userFile }: Locations,
  rebuildCatalog: boolean,
): Promise<WaymarkHome> {
  const { openWaymark } = await import('../index.ts');
  return openWaymark({
    home,
    environment,
    userFile,
    userHome: homedir(),
    temporaryDirectory: tmpdir(),
    rebuildCatalog,
  });
}

/** Real path, byte-exact: `process.cwd()` would replace what is not UTF-8. */
function currentDirectory(): string {
  try {
    return decodeName(realpathSync.native('.', { encoding: 'buffer' }));
  } catch (cause) {
    throw new WaymarkError('WORKSPACE_NOT_FOUND', 'The current directory no longer exists', { cause });
  }
}

function realDirectory(named: string, cwd: string): string {
  const path = toFsPath(resolve(cwd, named));
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) {
    throw new WaymarkError(
      'WORKSPACE_NOT_FOUND',
      `${quotePath(named)} is ${stats ? 'not a' : 'no'} directory`,
    );
  }
  return decodeName(realpathSync.native(path, { encoding: 'buffer' }));
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
