import { openHome } from '../../src/open-home.ts';
import { createPlanService } from '../../src/plans/create-plan-service.ts';
import { planOptions } from './plan-scene.ts';

// plan-crash.ts BASE FILE KIND N [PLAN CHECKPOINT]: runs the plan, or rolls one back, and kills itself at the event, or right before the changing call,
// of that number.
const [base = '', file = '', kind = '', number = '', plan = '', checkpoint = ''] = process.argv.slice(2);
let seen = 0;
const count = () => {
  if (seen === Number(number)) process.kill(process.pid, 'SIGKILL');
  seen += 1;
};
const home = await openHome({ ...planOptions(base), ...(kind === 'call' ? { stepHook: count } : {}) });
const plans = createPlanService({ home, environment: { PATH: process.env['PATH'] } });
if (kind === 'call') seen = 0;
if (plan !== '') await plans.rollback({ plan, checkpoint });
else await plans.run({ file, workspace: `${base}/ws`, onEvent: kind === 'event' ? count : () => {} });
process.stdout.write(String(seen));
