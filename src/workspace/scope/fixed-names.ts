/** Prefix of the temporary names that restores use inside a workspace. */
export const RESTORE_TEMPORARY_PREFIX = '.waymark-restore-';

const PRUNED_DIRECTORIES: ReadonlySet<string> = new Set([
  '.waymark',
  '.vak',
  'node_modules',
  'target',
  'dist',
  'build',
  '.next',
  '__pycache__',
  'venv',
  '.venv',
]);

const PRUNED_FILES: ReadonlySet<string> = new Set(['.DS_Store', 'store.db', 'store.db-wal', 'store.db-shm']);

/** Tells whether a name is on the fixed list of rebuildable directories or files (part of rules version 1). */
export function isPrunedName(name: string, isDirectory: boolean): boolean {
  return isDirectory ? PRUNED_DIRECTORIES.has(name) : PRUNED_FILES.has(name) || name.endsWith('.pyc');
}

/** `.git` in any letter case: never captured, never restored, never even observed. */
export function isGitName(name: string): boolean {
  return name.length === 4 && name.toLowerCase() === '.git';
}

/** Tells whether a base name is that of a secret (part of rules version 1). Applies to files, directories and links alike. */
export function isSecretName(name: string): boolean {
  const lower = name.toLowerCase();
  return (
    lower.startsWith('.env') ||
    lower.endsWith('.pem') ||
    lower.endsWith('.key') ||
    lower.startsWith('id_rsa') ||
    lower.startsWith('id_ed25519') ||
    lower === 'credentials.json'
  );
}
