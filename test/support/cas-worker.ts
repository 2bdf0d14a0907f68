import { casCheckpoint, casStore } from './cas-scene.ts';

// cas-worker.ts HOME NAME COUNT: publishes COUNT checkpoints in session NAME, drops every third and collects now and then; prints the ids kept.
const [home = '', name = '', count = ''] = process.argv.slice(2);
const store = casStore(home);
const kept: string[] = [];
for (let seq = 0; seq < Number(count); seq += 1) {
  {
    await using _hold = await store.hold('shared', 60_000);
    const record = await casCheckpoint(
      store,
      { shared: `shared ${seq % 4}`, own: `${name} ${seq}`, 'd/constant': 'constant' },
      seq,
      { session: name },
    );
    if (seq % 3 === 2) await store.retract({ ...record, sandboxRef: null });
    else kept.push(`${name} ${seq}`);
  }
  if (seq % 4 === 3) {
    await using _hold = await store.hold('exclusive', 60_000);
    await store.collect({ minAgeMs: 0, thorough: seq % 8 === 7, dryRun: false });
  }
}
process.stdout.write(`${kept.join('\n')}\n`);
