import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import type { Waymark } from '../../src/checkpoints/api/waymark.ts';
import type { Workspace } from '../../src/checkpoints/api/workspace.ts';
import { openWaymark } from '../../src/index.ts';
import { type OpenHome, openHome } from '../../src/open-home.ts';
import type { OpenOptions } from '../../src/open-options.ts';
import { createPlanService } from '../../src/plans/create-plan-service.ts';
import type { PlanService } from '../../src/plans/plan-service.ts';

/** A workspace, a home and a place outside of both, with the services of one process on them. */
export interface PlanScene extends AsyncDisposable {
  readonly base: string;
  readonly root: string;
  /** a directory that no checkpoint covers */
  readonly outside: string;
  readonly home: OpenHome;
  readonly plans: PlanService;
  readonly waymark: Waymark;
  workspace(): Promise<Workspace>;
  /** Writes files into the workspace. */
  put(files: Readonly<Record<string, string>>): void;
  /** Writes a plan file outside of the workspace and gives its path. */
  planFile(document: object): string;
}

export function planOptions(
  base: string,
  environment: Readonly<Record<string, string | undefined>> = {},
): OpenOptions {
  return {
    home: join(base, 'home'),
    environment: { PATH: process.env['PATH'], HOME: join(base, 'user'), ...environment },
    userFile: join(base, 'user.toml'),
    userHome: join(base, 'user'),
    temporaryDirectory: tmpdir(),
  };
}

export async function planScene(
  options: {
    readonly base?: string;
    readonly toml?: string;
    readonly stepHook?: OpenOptions['stepHook'];
  } = {},
): Promise<PlanScene> {
  const base = options.base ?? realpathSync(mkdtempSync(join(tmpdir(), 'waymark-plans-')));
  for (const name of ['ws', 'outside', 'user']) mkdirSync(join(base, name), { recursive: true });
  if (options.toml !== undefined) writeFileSync(join(base, 'user.toml'), options.toml);
  const open: OpenOptions = {
    ...planOptions(base),
    ...(options.stepHook === undefined ? {} : { stepHook: options.stepHook }),
  };
  const home = await openHome(open);
  const waymark = await openWaymark(open);
  const plans = createPlanService({ home, environment: open.environment });
  const root = join(base, 'ws');
  let files = 0;
  return {
    base,
    root,
    outside: join(base, 'outside'),
    home,
    plans,
    waymark,
    workspace: () => waymark.openWorkspace(root),
    put(contents) {
      for (const [path, text] of Object.entries(contents)) {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), text);
      }
    },
    planFile(document) {
      files += 1;
      const path = join(base, `plan-${files}.yaml`);
      writeFileSync(path, stringify(document));
      return path;
    },
    async [Symbol.asyncDispose]() {
      plans[Symbol.dispose]();
      await waymark[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
      if (options.base === undefined) rmSync(base, { recursive: true, force: true });
    },
  };
}
