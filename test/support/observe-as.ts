import type { ContentHash } from '../../src/domain/ids.ts';
import { DEFAULT_LIMITS } from '../../src/domain/rules.ts';
import { hashPending } from '../../src/workspace/hash-pending.ts';
import type { Observation } from '../../src/workspace/observation.ts';
import { observeWorkspace } from '../../src/workspace/observe.ts';
import type { StatCache } from '../../src/workspace/stat-cache.ts';

// observe-as.ts ROOT UID: captures ROOT twice as that user, the second time from the first one's cache, and prints both drafts' edits.
const [root = '', uid = ''] = process.argv.slice(2);
process.setgroups?.([]);
process.setgid?.(Number(uid));
process.setuid?.(Number(uid));

const scope = {
  kind: 'live',
  limits: DEFAULT_LIMITS,
  include: [],
  exclude: [],
  forbidden: [],
  selection: [],
} as const;
let cache: StatCache | undefined;
const captures: unknown[] = [];
for (let round = 1; round <= 2; round += 1) {
  const observation: Observation = await observeWorkspace({ root, scope, cache });
  if (observation.kind !== 'observed') throw new Error(observation.kind);
  const read = await hashPending(observation);
  captures.push(
    observation.draft.edits.map(({ path, node }) => {
      const final = node?.kind === 'pending' ? read.get(path) : node;
      return `${path}: ${final?.kind === 'observed' ? `${final.reason} ${final.what}` : final?.kind}`;
    }),
  );
  cache = observation.next({ root: String(round).padStart(64, '0') as ContentHash, read });
  await new Promise((resolve) => setTimeout(resolve, 40));
}
process.stdout.write(JSON.stringify(captures));
