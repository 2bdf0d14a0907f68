import { mkdirSync, readSync, writeFileSync, writeSync } from 'node:fs';
import type { EngineName } from '../../src/index.ts';
import { inPlace } from './open-place.ts';

/*
 * process.ts ROLE DIRECTORY KEEP ENGINE NAME AMOUNT: does one thing in the workspace of a sandbox over and over and prints a line of JSON in the end.
 * AMOUNT is a number of rounds for `create`, milliseconds for the others. Every round opens the library anew, as commands do, except in `create`.
 */
const [role = '', directory = '', keepText = '', engineName = '', name = '', amount = ''] =
  process.argv.slice(2);
const keep = Number(keepText);
const engine = engineName as EngineName;
const workspaceFile = (file: string) => `${directory}/workspace/${file}`;
const session = name;

const roles: Readonly<Record<string, () => Promise<unknown>>> = {
  /** Takes checkpoints in the session that all share; every second one after a change. */
  create: async () =>
    await inPlace(directory, keep, async (workspace) => {
      const taken: unknown[] = [];
      for (let n = 0; n < Number(amount); n += 1) {
        if (n % 2 === 0) writeFileSync(workspaceFile(`${name}.txt`), `${name} ${n}`);
        const { checkpoint, warnings } = await workspace.createCheckpoint({
          engine,
          session: 'shared',
          reason: `${name} ${n}`,
        });
        taken.push({ id: checkpoint?.id, seq: checkpoint?.seq, reason: `${name} ${n}`, warnings });
      }
      return taken;
    }),

  write: () =>
    repeat(async (n) => {
      mkdirSync(workspaceFile(name), { recursive: true });
      writeFileSync(workspaceFile(`${name}/${n % 5}`), `${name} ${n}`);
      return await inPlace(directory, keep, async (workspace) => {
        const { checkpoint } = await workspace.createCheckpoint({ engine, session, reason: `${n}` });
        return checkpoint?.id;
      });
    }),

  list: () =>
    repeat(
      async () =>
        await inPlace(directory, keep, async (workspace) => {
          await workspace.status();
          await workspace.operations();
          return (await workspace.listCheckpoints({ everywhere: true })).length;
        }),
    ),

  prune: () =>
    repeat(
      async () =>
        await inPlace(directory, keep, async (workspace) => {
          const { dropped, problems } = await workspace.prune();
          if (problems.length > 0) throw new Error(`pruning is blocked: ${JSON.stringify(problems)}`);
          return dropped.length;
        }),
    ),

  /** Goes through a few contents again and again, so that each comes back after its checkpoints were dropped; now and then drops all it has. */
  reuse: async () => {
    mkdirSync(`${directory}/restored`);
    writeFileSync(workspaceFile('constant'), 'never touched again');
    return await repeat(
      async (n) =>
        await inPlace(directory, keep, async (workspace) => {
          writeFileSync(workspaceFile('changing'), `content ${n % 5}`.repeat(200));
          writeFileSync(workspaceFile('large'), `large ${n % 7}\n`.repeat(20_000));
          if (n % 4 === 3) {
            for (const { id } of await workspace.listCheckpoints())
              await workspace.deleteCheckpoint(id, { force: true });
          }
          const { checkpoint } = await workspace.createCheckpoint({ engine, session, reason: `${n}` });
          const id = checkpoint?.id ?? '';
          const { problems } = await workspace.verify(id);
          if (problems.length > 0) throw new Error(`round ${n}: ${JSON.stringify(problems)}`);
          await workspace.restore({ checkpoint: id, into: `${directory}/restored/${n}` });
          return n;
        }),
    );
  },

  /** Restores and stops in the midst of it, where the file `a` takes its place, until its input ends. */
  restore: async () => {
    let stopped = false;
    const hook = (_: unknown, target: string): void => {
      if (stopped || !target.endsWith('/a')) return;
      stopped = true;
      writeSync(1, 'inside\n');
      while (readSync(0, Buffer.alloc(1)) > 0);
    };
    return await inPlace(
      directory,
      keep,
      async (workspace) => {
        const { changes } = await workspace.restore({ checkpoint: name, confirm: 'always' });
        return changes.length;
      },
      { stepHook: hook },
    );
  },
};

async function repeat<T>(round: (n: number) => Promise<T>): Promise<readonly T[]> {
  const results: T[] = [];
  const end = performance.now() + Number(amount);
  for (let n = 0; performance.now() < end; n += 1) results.push(await round(n));
  return results;
}

process.stdout.write(`${JSON.stringify(await roles[role]?.())}\n`);
