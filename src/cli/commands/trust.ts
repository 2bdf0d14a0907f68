import { join } from 'node:path';
import { CONFIG_FILE_NAME, readConfigFile } from '../../config/config-file.ts';
import { valuesOfFile } from '../../config/file-values.ts';
import { needsTrust } from '../../config/resolve-settings.ts';
import { distrustFile, trustFile } from '../../config/trust.ts';
import { quotePath } from '../../domain/rel-path.ts';
import type { CommandModule } from '../command.ts';
import { pathJson } from '../json/path-json.ts';
import { line } from '../render/block.ts';

/** `waymark trust` */
export const trust: CommandModule = {
  configure: (command) => command.option('--revoke', 'take trust back'),
  examples: [
    ['waymark trust', "allow the commands in this workspace's waymark.toml, as it is now"],
    ['waymark trust --revoke', 'allow them no longer'],
  ],
  async run(context, { options }) {
    const file = join(await context.workspaceDirectory(), CONFIG_FILE_NAME);
    const { home } = context.locations;
    const fs = await context.fileSystem();
    if (options.flag('revoke')) {
      distrustFile(fs, home, file);
      return {
        data: () => ({ file: pathJson(file), trusted: false }),
        blocks: () => [line(`${quotePath(file)} is not trusted`)],
      };
    }
    const { sha256 } = trustFile(fs, home, file);
    const commands = commandsOf(file, sha256);
    return {
      data: () => ({ file: pathJson(file), trusted: true, sha256, commands: Object.fromEntries(commands) }),
      blocks: () => [
        ...commands.map(([key, value]) => line(`${key} = ${JSON.stringify(value)}`)),
        line(`${quotePath(file)} is trusted until it changes`),
      ],
    };
  },
};

function commandsOf(file: string, sha256: string): readonly (readonly [string, unknown])[] {
  const config = readConfigFile(file);
  // Changed since it was trusted: then nothing of it counts.
  if (config?.sha256 !== sha256) return [];
  return [...valuesOfFile(config)].filter(([key]) => needsTrust(key));
}
