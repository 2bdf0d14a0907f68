import { readdirSync } from 'node:fs';
import {
  decodeName,
  isBelow,
  joinRel,
  parentOf,
  quotePath,
  type RelPath,
  toFsPath,
} from '../../domain/rel-path.ts';
import { type ApplyRun, attempt, finishStep, type Step, skipStep } from './apply-run.ts';
import { displace, settleDisplaced } from './displacement.ts';
import { findEntry, looksLike } from './found-entry.ts';
import { isRestoreTemporary } from './temporaries.ts';
import { workingMode } from './unlock-directories.ts';

/** The first phase: what is to go goes, files before the directories that hold them, these by `rmdir` only and from the bottom. */
export function removeEntries(run: ApplyRun, steps: readonly Step[]): void {
  keepSurprisedDirectories(run, steps);
  for (const step of steps) {
    if (step.state === 'waiting' && leavesAsFile(step)) attempt(run, step, () => removeFile(run, step));
  }
  const settling = stepsByDirectory(steps);
  for (const step of steps.toReversed()) {
    if (step.state !== 'waiting' || !leavesAsDirectory(step)) continue;
    attempt(run, step, () => removeDirectory(run, step, settling.get(step.path) ?? []));
  }
}

/** A file or link that goes, or gives way to a directory. */
function leavesAsFile({ action: { before, after } }: Step): boolean {
  if (before === undefined || before.kind === 'directory') return false;
  return after === undefined || after.kind === 'directory';
}

/** A directory that goes, or gives way to something else. */
function leavesAsDirectory({ action: { before, after } }: Step): boolean {
  return before?.kind === 'directory' && after?.kind !== 'directory';
}

function removeFile(run: ApplyRun, step: Step): void {
  const { before, after } = step.action;
  if (!looksLike(findEntry(run.tree, step.path), before)) {
    skipStep(run, step, 'changed', 'It is not what the safety checkpoint holds');
    return;
  }
  if (displace(run, step) && after === undefined) finishStep(run, step);
}

function removeDirectory(run: ApplyRun, step: Step, inside: readonly Step[]): void {
  const { before, after } = step.action;
  const found = findEntry(run.tree, step.path);
  const mode = before?.kind === 'directory' ? before.mode : 0;
  if (found?.kind !== 'directory' || (found.mode !== mode && found.mode !== workingMode(mode))) {
    skipStep(run, step, 'changed', 'It is not what the safety checkpoint holds');
    return;
  }
  for (const { path, state } of inside) {
    if (state === 'skipped') {
      skipStep(run, step, 'blocked', `${quotePath(path)} stays`);
      return;
    }
  }
  for (const child of inside) settleDisplaced(run, child);
  run.fs.rmdir(run.tree.locate(step.path));
  run.tree.forget(step.path);
  run.finalModes.delete(step.path);
  run.touched.delete(step.path);
  if (after === undefined) finishStep(run, step);
}

function stepsByDirectory(steps: readonly Step[]): ReadonlyMap<RelPath | '', readonly Step[]> {
  const byDirectory = new Map<RelPath | '', Step[]>();
  for (const step of steps) {
    const directory = parentOf(step.path);
    const siblings = byDirectory.get(directory);
    if (siblings === undefined) byDirectory.set(directory, [step]);
    else siblings.push(step);
  }
  return byDirectory;
}

/** A directory in which something appeared that the plan does not know is not replaced, and keeps everything in it. */
function keepSurprisedDirectories(run: ApplyRun, steps: readonly Step[]): void {
  const replaced = steps.filter((step) => leavesAsDirectory(step) && step.action.after !== undefined);
  if (replaced.length === 0) return;
  const known = new Set<string>(steps.map(({ path }) => path));
  for (const top of replaced) {
    const within = steps.filter(({ path }) => path === top.path || isBelow(path, top.path));
    const surprise = within.some((step) => leavesAsDirectory(step) && hasUnknownNames(run, step.path, known));
    if (!surprise) continue;
    for (const step of within) skipStep(run, step, 'changed', `Something appeared in ${quotePath(top.path)}`);
  }
}

function hasUnknownNames(run: ApplyRun, directory: RelPath, known: ReadonlySet<string>): boolean {
  const names = readdirSync(toFsPath(run.tree.directory(directory)), { encoding: 'buffer' });
  return names
    .map(decodeName)
    .some((name) => !known.has(joinRel(directory, name)) && !isRestoreTemporary(name));
}
