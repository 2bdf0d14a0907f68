import { wave } from '../../runs/wave.ts';
import { contextFor, type PlanHome } from '../records/plan-home.ts';
import type { Waves } from './sandbox-results.ts';

/** Waves over the directory that a plan runs in. */
export function workspaceWaves(planHome: PlanHome): Waves {
  return {
    during: (plan, directory, body) =>
      wave(contextFor(planHome, plan, directory), { label: `plan ${plan.name}` }, body),
  };
}
