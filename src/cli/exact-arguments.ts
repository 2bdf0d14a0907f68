import { readFileSync } from 'node:fs';
import { decodeName } from '../domain/rel-path.ts';

/**
 * The arguments as they were given. Node replaces bytes that are not UTF-8 by U+FFFD; where that happened, and the
 * system shows the command line, they come from there, in {@link decodeName} form.
 */
export function exactArguments(
  argv: readonly string[],
  commandLine = '/proc/self/cmdline',
): readonly string[] {
  if (!argv.some((argument) => argument.includes('\uFFFD'))) return argv;
  let bytes: Buffer;
  try {
    bytes = readFileSync(commandLine);
  } catch {
    // No such file on this system: names that are not UTF-8 can still be given C-quoted.
    return argv;
  }
  const all = splitAtNul(bytes);
  return all.length < argv.length ? argv : all.slice(-argv.length).map((part) => decodeName(part));
}

function splitAtNul(bytes: Buffer): readonly Buffer[] {
  const parts: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0, start);
    parts.push(bytes.subarray(start, end < 0 ? bytes.length : end));
    start = end < 0 ? bytes.length : end + 1;
  }
  return parts;
}
