import { runScout } from '../workspace/scout/scout-worker.ts';

runScout();
