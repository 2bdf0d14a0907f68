import type { Waymark } from './checkpoints/api/waymark.ts';
import type { PlanService } from './plans/plan-service.ts';

/** One `WAYMARK_HOME` with the plans in it. */
export interface WaymarkHome extends Waymark {
  /** Opened once, when it is first asked for. */
  plans(): Promise<PlanService>;
}
