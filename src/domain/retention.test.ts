import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { decideExpiry, type ExpiryInput, shortestPrefix } from './expiry.ts';
import type { CheckpointId, DirHash, OperationId, PlanId, SessionId } from './ids.ts';
import {
  decideRetention,
  type RetentionDecision,
  type RetentionInput,
  type RetentionSubject,
} from './retention.ts';

const DAY = 86_400_000;

function subject(
  session: string,
  seq: number,
  more: { day?: number; plan?: string; git?: boolean; pinned?: boolean; workspace?: string } = {},
): RetentionSubject {
  const { day = seq, plan, git = false, pinned = false, workspace = 'w1' } = more;
  return {
    id: `${session}/${seq}` as CheckpointId,
    sessionId: session as SessionId,
    seq,
    createdAt: new Date(day * DAY).toISOString(),
    engine: git ? 'git' : 'cas',
    planId: (plan ?? null) as PlanId | null,
    pinned,
    workspace: {
      path: `/${workspace}`,
      dirHash: workspace as DirHash,
      projectHash: workspace as DirHash,
      inode: '1',
      birthtimeNs: undefined,
    },
  };
}

const series = (session: string, count: number, more: Parameters<typeof subject>[2] = {}) =>
  Array.from({ length: count }, (_, seq) => subject(session, seq, more));

const nothing = {
  operations: [],
  openRunStarts: new Set<CheckpointId>(),
  journal: new Set<CheckpointId>(),
};

const decide = (checkpoints: readonly RetentionSubject[], more: Partial<RetentionInput> = {}) =>
  decideRetention({
    checkpoints,
    keepPerSession: 3,
    keepPerGitStore: 4,
    planPolicy: { maxCheckpoints: 3, autoPrune: true },
    ...nothing,
    ...more,
  });

const operation = (number: number, before: string | null, after: string | null, workspace = 'w1') => ({
  id: `O${String(number).padStart(3, '0')}` as OperationId,
  kind: 'run' as const,
  dirHash: workspace as DirHash,
  before: before as CheckpointId | null,
  after: after as CheckpointId | null,
});

const print = (decisions: readonly RetentionDecision[]) =>
  `${decisions.map(({ id, keep, reasons }) => `${keep ? 'keep' : 'drop'} ${id}: ${reasons.join('; ')}`).join('\n')}\n`;

const golden = (name: string) => join(import.meta.dirname, 'golden', `${name}.txt`);

describe('decideRetention()', () => {
  test('keeps the newest of each session', async () => {
    const decisions = decide([...series('s1', 5), ...series('s2', 2)]);
    await expect(print(decisions)).toMatchFileSnapshot(golden('retention-sessions'));
  });

  test('gives each checkpoint one policy: its plan, its git store, its session', async () => {
    const decisions = decide([
      ...series('cas', 5),
      ...series('git1', 4, { git: true }),
      ...series('git2', 3, { git: true, day: 9 }),
      ...series('git3', 5, { git: true, workspace: 'w2' }),
      ...series('p', 6, { plan: 'P1' }),
      ...series('q', 5, { plan: 'P2', git: true }),
      ...[5, 6, 7].map((seq) => subject('cas', seq, { plan: 'P3' })),
    ]);
    await expect(print(decisions)).toMatchFileSnapshot(golden('retention-policies'));
  });

  test('keeps pins, ends of the newest 10 operations, open run starts and journals beyond the policy', async () => {
    const checkpoints = series('s', 30).map((checkpoint) =>
      checkpoint.seq === 4 ? { ...checkpoint, pinned: true } : checkpoint,
    );
    const operations = [
      ...Array.from({ length: 12 }, (_, at) => operation(at, `s/${at + 6}`, `s/${at + 7}`)),
      operation(13, 's/0', null, 'w2'),
      ...Array.from({ length: 5 }, (_, at) => ({
        ...operation(20 + at, `s/${at + 20}`, null),
        kind: 'step' as const,
      })),
    ].toReversed();
    const decisions = decide(checkpoints, {
      operations,
      openRunStarts: new Set(['s/2' as CheckpointId]),
      journal: new Set(['s/3' as CheckpointId]),
    });
    await expect(print(decisions)).toMatchFileSnapshot(golden('retention-always-kept'));
  });

  test('uses the policy of each plan', async () => {
    const decisions = decide([...series('a', 5, { plan: 'P1' }), ...series('b', 5, { plan: 'P2' })], {
      planPolicies: new Map([['P2' as PlanId, { maxCheckpoints: 1, autoPrune: false }]]),
    });
    await expect(print(decisions)).toMatchFileSnapshot(golden('retention-plan-policies'));
  });

  test('never drops the newest although the clock went back', () => {
    const checkpoints = [
      subject('s', 0, { day: 9 }),
      subject('s', 1, { day: 8 }),
      subject('s', 2, { day: 1 }),
    ];
    const kept = decide(checkpoints, { keepPerSession: 1 }).filter(({ keep }) => keep);
    expect(kept.map(({ id }) => id)).toEqual(['s/2']);
  });
});

describe('decideExpiry()', () => {
  const expire = (checkpoints: readonly RetentionSubject[], more: Partial<ExpiryInput> = {}) =>
    decideExpiry({
      checkpoints,
      endedSessions: new Set(['ended' as SessionId]),
      missingRoots: new Set(),
      now: 40 * DAY,
      maxAgeMs: 30 * DAY,
      ...nothing,
      ...more,
    });

  test('drops what is too old of ended sessions only', async () => {
    const { decisions, droppable } = expire(
      [
        ...[0, 5, 9, 10, 11, 39].map((day, seq) => subject('ended', seq, { day })),
        ...[1, 38].map((day, seq) => subject('open', seq, { day, workspace: 'w2' })),
        subject('ended', 6, { day: 2, workspace: 'gone' }),
        subject('ended', 7, { day: 3, workspace: 'gone' }),
        subject('ended', 8, { day: 4, workspace: 'lone' }),
      ],
      {
        missingRoots: new Set(['gone' as DirHash]),
        operations: [operation(1, 'ended/1', null)],
      },
    );
    await expect(`${print(decisions)}\ndroppable: ${droppable.join(' ')}\n`).toMatchFileSnapshot(
      golden('expiry'),
    );
  });

  test('CR-04: never drops anything of a workspace whose root is missing', () => {
    const { decisions, droppable } = expire(series('ended', 9), { missingRoots: new Set(['w1' as DirHash]) });
    expect(decisions.every(({ keep }) => keep)).toBe(true);
    expect(droppable).toEqual([]);
  });
});

describe('shortestPrefix()', () => {
  test.each([
    [0, 5, 0],
    [3, 5, 3],
    [5, 5, 5],
    [9, 5, 5],
    [1, 0, 0],
  ])('finds that %i of %i must go', async (needed, items, expected) => {
    expect(await shortestPrefix(items, (dropped) => dropped >= needed)).toBe(expected);
  });
});
