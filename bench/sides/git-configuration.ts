/**
 * How the shadow repository is set up: like that of a tool which cares for speed. Each was measured not to slow git
 * down on the corpora; `index.version` and `checkout.workers` make it a little faster. Loose objects are neither
 * fsynced nor packed, which are git's defaults and its fastest way. There are no excludes to be matched.
 */
export const GIT_CONFIGURATION: Readonly<Record<string, string>> = {
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'commit.gpgSign': 'false',
  'core.autocrlf': 'false',
  'core.hooksPath': '/dev/null',
  'core.preloadIndex': 'true',
  'core.untrackedCache': 'true',
  'index.version': '4',
  'checkout.workers': '0',
};

/** Neither the user's nor the machine's configuration counts. */
export const GIT_ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'bench',
  GIT_AUTHOR_EMAIL: 'bench@localhost',
  GIT_COMMITTER_NAME: 'bench',
  GIT_COMMITTER_EMAIL: 'bench@localhost',
  LC_ALL: 'C',
};
