/**
 * Published packages whose files make up the real corpus: 28,020 files in some 1,600 directories, 93 MB of sources,
 * builds, declarations and source maps. Versions are exact: npm never changes a published tarball.
 */
export const PINNED_PACKAGES: readonly string[] = [
  '@fluentui/react@8.122.9',
  '@mui/material@6.4.12',
  'core-js@3.45.1',
  'date-fns@4.1.0',
  'es-abstract@1.24.0',
  'lodash-es@4.17.21',
  'ramda@0.30.1',
  'rxjs@7.8.2',
  'typeorm@0.3.20',
];
