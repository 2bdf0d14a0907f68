import type { ScopeSource } from '../../workspace/observation.ts';
import type { WorkspaceContext } from './home-context.ts';

/** The scope by the rules of the present: the settings and the ignore files as they are now. */
export function liveScope(context: WorkspaceContext): Extract<ScopeSource, { readonly kind: 'live' }> {
  const { settings, warnings } = context.settings(context.identity.path);
  for (const warning of warnings) context.warn(warning);
  return {
    kind: 'live',
    limits: settings.limits,
    include: settings.scope.include,
    exclude: settings.scope.exclude,
    forbidden: [context.layout.home],
    selection: [],
  };
}
