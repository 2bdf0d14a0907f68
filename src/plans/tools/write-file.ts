import { quotePath } from '../../domain/rel-path.ts';
import type { WriteFileStep } from '../document/plan-document.ts';
import { writePlace } from './sandbox-file.ts';
import { openPlace } from './sandbox-place.ts';
import type { Tool } from './tool.ts';

/** Writes a whole file and the directories above it. A present file keeps its mode unless `executable` says otherwise. */
export const writeFile: Tool<WriteFileStep> = {
  name: 'write_file',
  writes: true,
  async run(step, context) {
    const { fs } = context;
    using place = openPlace(context, step.path, { createParents: true });
    const bytes = Buffer.from(step.content, 'utf8');
    const present = place.stat();
    writePlace(fs, place, bytes, modeFor(step.executable, present?.isFile() ? present.mode : undefined));
    return { output: `wrote ${quotePath(place.rel)}, ${bytes.length} bytes`, exitCode: null };
  },
};

/** Permission bits with the executable bit set where reading is allowed, or cleared; undefined leaves them to the file or the umask. */
export function modeFor(executable: boolean | undefined, present: number | undefined): number | undefined {
  if (executable === undefined) return undefined;
  const base = present === undefined ? 0o666 & ~process.umask() : present & 0o7777;
  return executable ? base | ((base & 0o444) >> 2) : base & ~0o111;
}
