import { readFileSync, realpathSync, statSync } from 'node:fs';
import { WaymarkError } from '../../domain/errors.ts';
import type { CheckContext } from './check-plan.ts';
import type { PlanDocument } from './plan-document.ts';
import { invalidPlan, parseSource } from './source-map.ts';

/** bytes; a plan is written by hand or by an agent, never by the megabyte */
const LARGEST = 4 * 1024 ** 2;

/**
 * Reads a plan file (YAML, or JSON by its ending) and the subplan files it names.
 *
 * @throws WaymarkError `PATH_NOT_FOUND` where there is no such file; `VALIDATION_ERROR` with file, line and column of everything wrong
 */
export async function loadPlanFile(
  file: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<PlanDocument> {
  const read = (open: readonly string[]) => async (path: string, context: CheckContext) => {
    const { real, text } = readText(path);
    if (open.includes(real)) throw invalidPlan(path, [{ path: [], message: 'includes itself' }]);
    const { checkPlan } = await import('./check-plan.ts');
    try {
      return await checkPlan(await parseSource(path, text), { ...context, readPlan: read([...open, real]) });
    } catch (error) {
      if (error instanceof RangeError) throw invalidPlan(path, [{ path: [], message: 'nests too deeply' }]);
      throw error;
    }
  };
  const first = read([]);
  return first(file, { variables, depth: 0, readPlan: first });
}

function readText(path: string): { readonly real: string; readonly text: string } {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new WaymarkError('PATH_NOT_FOUND', `No plan file ${path}`);
  if (!stats.isFile()) throw new WaymarkError('VALIDATION_ERROR', `Plan ${path} is not a regular file`);
  if (stats.size > LARGEST)
    throw new WaymarkError('VALIDATION_ERROR', `Plan ${path} has ${stats.size} bytes, more than ${LARGEST}`);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
    return { real: realpathSync(path), text };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'EACCES')
      throw new WaymarkError('PERMISSION_DENIED', `Cannot read plan ${path}`, { cause: error });
    throw new WaymarkError('VALIDATION_ERROR', `Plan ${path} is not UTF-8 text`, { cause: error });
  }
}
