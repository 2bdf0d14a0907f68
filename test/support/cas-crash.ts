import { actOnCasHome, type CasAction, casStore } from './cas-scene.ts';

// cas-crash.ts HOME ACTION STEP: does the action on the home and kills itself right before the changing call of that number.
const [home = '', action = '', step = ''] = process.argv.slice(2);
let taken = 0;
const store = casStore(home, () => {
  if (taken === Number(step)) process.kill(process.pid, 'SIGKILL');
  taken += 1;
});
const { manifests } = await store.manifests();
await actOnCasHome(
  store,
  action as CasAction,
  manifests.map(({ record }) => record).sort((a, b) => a.seq - b.seq),
);
