import { formatByteSize } from '../../config/byte-size.ts';
import type { CommandModule } from '../command.ts';

/** `waymark store list` */
export const storeList: CommandModule = {
  configure: () => {},
  examples: [
    ['waymark store list', 'engines, workspaces, sizes'],
    ['waymark store list --format json', 'for a program'],
  ],
  async run(context) {
    const stores = await (await context.waymark()).stores();
    return {
      data: () =>
        stores.map(({ engine, workspace, dirHash, place, bytes, checkpoints }) => ({
          engine,
          workspace,
          dir_hash: dirHash,
          path: place,
          size_bytes: bytes,
          checkpoints,
        })),
      blocks: () => [
        {
          kind: 'table',
          columns: [
            { title: 'Engine', tone: 'accent' },
            { title: 'Workspace' },
            { title: 'Checkpoints' },
            { title: 'Size' },
            { title: 'Path', tone: 'dim' },
          ],
          rows: stores.map(({ engine, workspace, dirHash, place, bytes, checkpoints }) => [
            engine,
            workspace ?? (dirHash === null ? 'all' : `unknown (${dirHash})`),
            String(checkpoints),
            formatByteSize(bytes),
            place,
          ]),
        },
      ],
      notes: stores.length === 0 ? ['There is no store yet'] : [],
    };
  },
};
