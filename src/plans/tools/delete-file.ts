import { quotePath } from '../../domain/rel-path.ts';
import type { DeleteFileStep } from '../document/plan-document.ts';
import { deletePlace } from './sandbox-file.ts';
import { openPlace } from './sandbox-place.ts';
import type { Tool } from './tool.ts';

/** Removes one file, or a symlink itself. Directories stay. */
export const deleteFile: Tool<DeleteFileStep> = {
  name: 'delete_file',
  writes: true,
  async run(step, context) {
    const { fs } = context;
    using place = openPlace(context, step.path, { createParents: false });
    deletePlace(fs, place);
    return { output: `deleted ${quotePath(place.rel)}`, exitCode: null };
  },
};
