import { type OpenOptions, openWaymark, type Workspace } from '../../src/index.ts';

/** Opens the library on the workspace of a sandbox's directory, as a process of its own does, and closes it afterwards. */
export async function inPlace<T>(
  directory: string,
  keep: number,
  body: (workspace: Workspace) => Promise<T>,
  extra: Partial<OpenOptions> = {},
): Promise<T> {
  await using waymark = await openWaymark({
    home: `${directory}/waymark-home`,
    environment: {
      PATH: process.env['PATH'],
      HOME: `${directory}/home`,
      WAYMARK_RETENTION_KEEP: String(keep),
    },
    userHome: `${directory}/home`,
    temporaryDirectory: `${directory}/tmp`,
    ...extra,
  });
  return await body(await waymark.openWorkspace(`${directory}/workspace`));
}
