/** Published packages, exact versions: npm never changes a published tarball. */

/**
 * Libraries as they are used: 28,020 files in 1,635 directories, 94 MB of sources, builds, declarations and source
 * maps.
 */
export const LIBRARIES: readonly string[] = [
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

/** Many tiny files that resemble each other: 45,612 files in some 500 directories, 49 MB. */
export const ICONS: readonly string[] = [
  '@mui/icons-material@6.4.12',
  'core-js@3.45.1',
  'date-fns@4.1.0',
  'es-abstract@1.24.0',
  'rxjs@7.8.2',
];

/** Real files in many small directories, a directory for each module: 27,993 files in some 8,600 directories. */
export const MODULES: readonly string[] = [
  '@carbon/icons-react@10.49.0',
  '@carbon/pictograms-react@11.49.0',
  'date-fns@2.30.0',
  'mathjs@13.0.0',
];
