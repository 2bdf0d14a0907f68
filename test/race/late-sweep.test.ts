import { expect, test } from 'vitest';
import { sweep } from '../../src/checkpoints/retention/sweep.ts';
import type { HomeContext } from '../../src/checkpoints/workspace/home-context.ts';
import { type OpenHome, openHome } from '../../src/open-home.ts';
import type { StepHook } from '../../src/platform/file-system.ts';
import { writeFiles } from '../support/files.ts';
import { openSandbox, type Sandbox, sandbox } from '../support/sandbox.ts';
import { goBack, take } from '../support/take.ts';

/*
 * A sweep lists what is unfinished, and then waits for the locks. What it listed can end in between: here it always does.
 */
type Listed = Pick<HomeContext['catalog'], 'unfinished' | 'operations'>;

/** What a sweep would list at every step of `act`, each time something is unfinished. */
async function listedDuring(
  place: Sandbox,
  home: OpenHome,
  act: (stepHook: StepHook) => Promise<unknown>,
): Promise<readonly { readonly [name in keyof Listed]: ReturnType<Listed[name]> }[]> {
  const found: { readonly [name in keyof Listed]: ReturnType<Listed[name]> }[] = [];
  await act(() => {
    const listed = { unfinished: home.catalog.unfinished(), operations: home.catalog.operations() };
    const isOpen = listed.operations.some(({ status }) => status === 'open');
    if (listed.unfinished.length > 0 || isOpen) found.push(listed);
  });
  expect(found.length, `in ${place.workspace}`).toBeGreaterThan(0);
  return found;
}

async function sweepWith(home: OpenHome, listed: Awaited<ReturnType<typeof listedDuring>>[number]) {
  let first = true;
  const unfinished = () => {
    const result = first ? listed.unfinished : home.catalog.unfinished();
    first = false;
    return result;
  };
  const catalog = Object.assign(Object.create(home.catalog), {
    unfinished,
    operations: () => listed.operations,
  }) as HomeContext['catalog'];
  return await sweep({ ...home, catalog });
}

test.each(['cas', 'git'] as const)(
  'a capture that ends while a sweep waits for it is no dead one, engine %s',
  async (engine) => {
    const place = sandbox();
    writeFiles(place.workspace, { a: 'only copy' });
    await using home = await openHome(place.options);
    const listed = await listedDuring(place, home, async (stepHook) => {
      const { workspace } = await openSandbox(place, { stepHook });
      await take(workspace, { engine });
    });
    expect(listed.some(({ unfinished }) => unfinished.length > 0)).toBe(true);
    for (const one of listed) expect(await sweepWith(home, one)).toBe(0);
    const { workspace } = await openSandbox(place);
    expect(await workspace.listCheckpoints()).toHaveLength(1);
    expect((await workspace.verify()).problems).toEqual([]);
  },
);

test('a restore that ends while a sweep waits for it is done, and can be undone', async () => {
  const place = sandbox();
  writeFiles(place.workspace, { a: 'v1' });
  await using home = await openHome(place.options);
  const { workspace } = await openSandbox(place);
  const id = await take(workspace);
  writeFiles(place.workspace, { a: 'v2' });
  const listed = await listedDuring(place, home, async (stepHook) => {
    const hooked = await openSandbox(place, { stepHook });
    await goBack(hooked.workspace, id);
  });
  const before = await workspace.operations();
  for (const one of listed) await sweepWith(home, one);
  expect(await workspace.operations()).toEqual(before);
  expect(before.map(({ status }) => status)).toEqual(['done']);
});
