import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type OpenOptions, openWaymark, type Waymark, type Workspace } from '../../src/index.ts';

/** A fresh place for one test: its own HOME, WAYMARK_HOME and an empty workspace, removed afterwards. */
export interface Sandbox {
  readonly directory: string;
  readonly workspace: string;
  readonly home: string;
  readonly userHome: string;
  /** Complete environment for a child process: nothing of the developer's but PATH. */
  readonly environment: Readonly<Record<string, string>>;
  readonly options: OpenOptions;
}

export function sandbox(extra: Partial<OpenOptions> = {}): Sandbox {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'waymark-test-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const [workspace, home, userHome] = ['workspace', 'waymark-home', 'home'].map((name) =>
    path.join(directory, name),
  ) as [string, string, string];
  mkdirSync(workspace);
  mkdirSync(userHome);
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: userHome,
    WAYMARK_HOME: home,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
  };
  const options: OpenOptions = {
    home,
    environment,
    userHome,
    temporaryDirectory: path.join(directory, 'tmp'),
    ...extra,
  };
  return { directory, workspace, home, userHome, environment, options };
}

/** Opens the library on a sandbox; closed when the test ends. */
export async function openSandbox(
  place: Sandbox,
  extra: Partial<OpenOptions> = {},
): Promise<{ waymark: Waymark; workspace: Workspace }> {
  const waymark = await openWaymark({ ...place.options, ...extra });
  onTestFinished(async () => await waymark[Symbol.asyncDispose]());
  return { waymark, workspace: await waymark.openWorkspace(place.workspace) };
}
