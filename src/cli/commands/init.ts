import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ScopeProposal } from '../../checkpoints/api/status.ts';
import { formatByteSize } from '../../config/byte-size.ts';
import { CONFIG_FILE_NAME } from '../../config/config-file.ts';
import { initialConfig, limitLines } from '../../config/initial-config.ts';
import { countText } from '../../domain/count-text.ts';
import { quotePath } from '../../domain/rel-path.ts';
import type { Limits } from '../../domain/rules.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import type { CommandModule } from '../command.ts';
import { pathJson } from '../json/path-json.ts';
import { progressLine } from '../progress-line.ts';
import { type Block, line } from '../render/block.ts';

/** `waymark init` */
export const init: CommandModule = {
  configure: (command) => command.option('-n, --dry-run', 'measure and propose, write nothing'),
  examples: [
    ['waymark init', 'measure the workspace and write a waymark.toml with limits that fit'],
    ['waymark init --dry-run', 'only measure'],
  ],
  async run(context, { options }) {
    const workspace = await context.workspace();
    const root = workspace.identity.path;
    using _progress = progressLine(context.terminal, workspace);
    const proposal = await workspace.proposeLimits();
    const file = join(root, CONFIG_FILE_NAME);
    const existed = existsSync(file);
    const written = !existed && !options.flag('dryRun');
    if (written) writeNewFile(await context.fileSystem(), file, initialConfig(proposal.proposed));
    return {
      data: () => ({
        workspace: pathJson(root),
        config_file: pathJson(file),
        written,
        files: proposal.files,
        bytes: proposal.bytes,
        largest: proposal.largest.map(({ path, size }) => ({ path: pathJson(path), size })),
        present: limitsJson(proposal.present),
        proposed: proposal.proposed === undefined ? null : limitsJson(proposal.proposed),
      }),
      blocks: () => blocksOf(proposal, file, { existed, written }),
    };
  },
};

function blocksOf(
  { files, bytes, proposed }: ScopeProposal,
  file: string,
  { existed, written }: { readonly existed: boolean; readonly written: boolean },
): readonly Block[] {
  const measured = line(`${countText(files, 'file')} in scope, ${formatByteSize(bytes)}`);
  const verdict =
    proposed === undefined
      ? [line('The limits fit', 'good')]
      : [
          line('The limits do not fit; these would:', 'warn'),
          ...limitLines(proposed).map((text) => line(text)),
        ];
  const outcome = written
    ? [line(`Wrote ${quotePath(file)}`, 'good')]
    : existed
      ? [
          line(
            `${quotePath(file)} exists and stays as it is${proposed === undefined ? '' : ': put these lines into it'}`,
          ),
        ]
      : [];
  return [measured, ...verdict, ...outcome];
}

function limitsJson({ maxFileBytes, maxTotalBytes, maxFiles }: Limits) {
  return { max_file_bytes: maxFileBytes, max_total_bytes: maxTotalBytes, max_files: maxFiles };
}

/** Never replaces a file; it belongs to the project, so it gets the usual mode. */
function writeNewFile(fs: FileSystem, file: string, text: string): void {
  const fd = fs.openWrite(file, { exclusive: true, mode: 0o666 });
  try {
    fs.write(fd, Buffer.from(text));
    fs.fsync(fd);
  } finally {
    fs.close(fd);
  }
}
