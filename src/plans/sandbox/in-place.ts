import { type SandboxStrategy, unsupported } from './sandbox-strategy.ts';

/** `none`: the plan runs in the workspace itself. There is nothing to make, and nothing that may be removed. */
export const inPlace: SandboxStrategy = {
  name: 'none',
  locate: async ({ workspace }) => ({ path: workspace, branch: null }),
  create: async ({ workspace }) => ({ path: workspace, branch: null, notices: [] }),
  async remove() {
    throw unsupported(
      'none',
      'be removed: it is the workspace itself',
      'Go back with: waymark plan rollback',
    );
  },
};
