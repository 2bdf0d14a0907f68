import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { measureTree } from '../measure/measure-tree.ts';
import { CLI, runNode } from '../sides/cli.ts';
import { createGitSide } from '../sides/git-side.ts';
import { ENGINES, type Row } from './row.ts';
import { createOnCli } from './shared-work.ts';

const REPORT_MEMORY = join(import.meta.dirname, '..', 'sides', 'report-memory.mjs');

/** What captures take of disk and memory. Disk is what is allocated, as `du` counts. */
export const SPACE_ROWS: readonly Row[] = [
  {
    name: 'home-size',
    work: 'whole home on disk after the first capture',
    against: "git's objects",
    unit: 'bytes',
    bound: 'ratio',
    must: 0.12,
    aim: 0.07,
    engines: ENGINES,
    fresh: true,
    maxRounds: 1,
    async ours(scene, engine) {
      const home = scene.scratch();
      createOnCli(scene, engine, home);
      const { allocated } = measureTree(home);
      return { value: allocated };
    },
    async git(scene) {
      const gitDir = scene.scratch();
      const side = createGitSide(gitDir, scene.tree, scene.environment);
      side.addAll();
      side.commit();
      const allocated = side.objectBytes();
      return { value: allocated };
    },
  },
  {
    name: 'one-change-size',
    work: 'disk added by one small change, after close',
    against: "git's objects, git add -A && git commit",
    unit: 'bytes',
    bound: 'value',
    must: 32 * 1024,
    aim: 12 * 1024,
    engines: ENGINES,
    fresh: false,
    async ours(scene, engine) {
      const home = await scene.closedHome(engine);
      createOnCli(scene, engine, home);
      const before = measureTree(home).allocated;
      scene.change(1);
      createOnCli(scene, engine, home);
      return { value: measureTree(home).allocated - before };
    },
    async git(scene) {
      const { git } = scene;
      git.addAll();
      git.commit();
      const before = git.objectBytes();
      scene.change(1);
      git.addAll();
      git.commit();
      return { value: git.objectBytes() - before };
    },
  },
  {
    name: 'memory',
    work: 'peak memory, first capture',
    against: '',
    unit: 'bytes',
    bound: 'value',
    must: 250e6,
    aim: 180e6,
    engines: ENGINES,
    fresh: true,
    maxRounds: 3,
    async ours(scene, engine) {
      const home = scene.scratch();
      const report = `${home}.memory`;
      runNode(['--import', REPORT_MEMORY, CLI, 'checkpoints', 'create', '--store', engine], scene.tree, {
        ...scene.environment,
        WAYMARK_HOME: home,
        BENCH_MEMORY: report,
      });
      const peak = Number(readFileSync(report, 'utf8'));
      return { value: peak };
    },
  },
];
