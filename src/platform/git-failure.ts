import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { WaymarkError } from '../domain/errors.ts';

/** What git may have freed again when it gave up, bytes. */
const NEARLY_FULL = 64 * 1024;

/** The error of a git command that ended with `exitCode`; `place` is where it writes. */
export function gitFailed(
  args: readonly string[],
  exitCode: number,
  stderr: string,
  place: string | undefined,
): WaymarkError {
  const command = args.find((argument, at) => !argument.startsWith('-') && args[at - 1] !== '-c') ?? '';
  const reason = stderr.trim();
  if (tellsOfFullDisk(reason) || (tellsOfFailedWrite(reason) && isNearlyFull(place))) {
    return new WaymarkError('NO_SPACE', `git ${command} failed: ${reason}`, {
      hint: 'Free some space or run: waymark checkpoints prune',
    });
  }
  return new WaymarkError('GIT_FAILED', `git ${command} failed with status ${exitCode}: ${reason}`, {
    details: { exit_code: exitCode },
  });
}

function tellsOfFullDisk(reason: string): boolean {
  return /no space left on device|out of disk ?space|disk quota exceeded/i.test(reason);
}

/** Some of git's messages leave out the system's reason, as "failed to write new configuration file". */
function tellsOfFailedWrite(reason: string): boolean {
  return /\b(?:failed|unable|could not|cannot)\b.*\b(?:write|create|append|set)\b|\bwrite (?:error|failure)/i.test(
    reason,
  );
}

function isNearlyFull(place: string | undefined): boolean {
  if (place === undefined) return false;
  for (const directory of [place, dirname(place)]) {
    try {
      const { bavail, bsize, files, ffree } = statfsSync(directory);
      return bavail * bsize < NEARLY_FULL || (files > 0 && ffree === 0);
    } catch {
      // git may not have come to make it
    }
  }
  return false;
}
