import { WaymarkError } from '../../domain/errors.ts';
import { quotePath, type RelPath } from '../../domain/rel-path.ts';
import type { ApplyPatchStep } from '../document/plan-document.ts';
import { checkSandboxPath } from '../document/sandbox-path.ts';
import { applyHunks } from '../patch/apply-hunks.ts';
import { bytesOf, type FilePatch, linesOf } from '../patch/file-patch.ts';
import { parsePatch } from '../patch/parse-patch.ts';
import { deletePlace, readPlace, writePlace } from './sandbox-file.ts';
import { openPlace, type PlaceContext } from './sandbox-place.ts';
import type { Tool } from './tool.ts';
import { modeFor } from './write-file.ts';

/** One change that the whole patch came down to. */
type PatchAction =
  | {
      readonly kind: 'write';
      readonly path: RelPath;
      readonly bytes: Buffer;
      readonly mode: number | undefined;
    }
  | { readonly kind: 'delete'; readonly path: RelPath };

/** Applies a unified diff exactly: every hunk of every file is checked before the first write. */
export const applyPatch: Tool<ApplyPatchStep> = {
  name: 'apply_patch',
  writes: true,
  async run(step, context) {
    const { fs } = context;
    const files = parsePatch(step.patch);
    refuseTwice(files);
    const actions = files.flatMap((file) => planFile(context, file));
    for (const action of actions) {
      using place = openPlace(context, action.path, { createParents: action.kind === 'write' });
      if (action.kind === 'write') writePlace(fs, place, action.bytes, action.mode);
      else deletePlace(fs, place);
    }
    return { output: files.map(describe).join('\n'), exitCode: null };
  },
};

function planFile(context: PlaceContext, file: FilePatch): readonly PatchAction[] {
  const { action, from, to, hunks, executable } = file;
  const old = from === undefined ? undefined : readOld(context, from);
  const result = bytesOf(applyHunks(to ?? from ?? '', old === undefined ? [] : linesOf(old.bytes), hunks));
  if (action === 'delete') {
    if (result.length > 0)
      throw new WaymarkError('VALIDATION_ERROR', `The patch deletes "${from}" but leaves lines of it`);
    return [{ kind: 'delete', path: checkSandboxPath(from ?? '') }];
  }
  if (action !== 'modify') requireAbsent(context, to ?? '');
  const mode = modeFor(executable, old?.mode) ?? old?.mode;
  const write = { kind: 'write', path: checkSandboxPath(to ?? ''), bytes: result, mode } as const;
  return action === 'rename' ? [write, { kind: 'delete', path: checkSandboxPath(from ?? '') }] : [write];
}

function readOld(context: PlaceContext, path: string) {
  using place = openPlace(context, path, { createParents: false });
  return readPlace(place);
}

function requireAbsent(context: PlaceContext, path: string): void {
  try {
    using place = openPlace(context, path, { createParents: false });
    if (place.stat() === undefined) return;
  } catch (error) {
    if (error instanceof WaymarkError && error.code === 'PATH_NOT_FOUND') return;
    throw error;
  }
  throw new WaymarkError('VALIDATION_ERROR', `The patch creates ${quotePath(path)}, which exists`);
}

function refuseTwice(files: readonly FilePatch[]): void {
  const seen = new Set<string>();
  for (const { action, from, to } of files) {
    const touched = action === 'copy' || from === to ? [to] : [from, to];
    for (const path of touched) {
      if (path === undefined) continue;
      const rel = checkSandboxPath(path);
      if (seen.has(rel)) throw new WaymarkError('VALIDATION_ERROR', `The patch changes "${path}" twice`);
      seen.add(rel);
    }
  }
}

function describe({ action, from, to }: FilePatch): string {
  if (action === 'rename' || action === 'copy')
    return `${action} ${quotePath(from ?? '')} ${quotePath(to ?? '')}`;
  return `${action} ${quotePath(to ?? from ?? '')}`;
}
