import { statfsSync } from 'node:fs';
import { toFsPath } from '../domain/rel-path.ts';

/**
 * Tells from which moment on a file's times prove that nothing more happened to it unnoticed.
 *
 * The kernel stamps files with a clock that moves in ticks (10 ms at most), so a change in the tick of an earlier one can leave all
 * times as they were; 97 % of writes made after a moment carried an earlier mtime. Entries whose newest time lies within
 * {@link TICK_MARGIN_NS} before the start of the capture that recorded them are read again next time, with whole-second times
 * (ctime can't be set by anybody) within {@link SECOND_MARGIN_NS}.
 *
 * On a file system whose clock is not known to be ours (network, FUSE, unknown types) times are not compared with our clock at all.
 * There an entry counts once two captures at least {@link SECOND_MARGIN_NS} apart saw the same stat: its clock has moved on since.
 */
export interface FileClock {
  readonly isOurs: boolean;
  /** `startMs`: our time before the entry was looked at. Always false where the clock is not ours. */
  isSettled(mtimeNs: bigint, ctimeNs: bigint, startMs: number): boolean;
}

const TICK_MARGIN_NS = 20_000_000n;
const SECOND_MARGIN_NS = 2_000_000_000n;
/** How long two sightings must lie apart where the clock is not ours, ms. */
export const SIGHTING_DISTANCE_MS = 2000;

/** Magic numbers (`statfs(2)`) of file systems that this machine's kernel stamps; the last two are Darwin's hfs and apfs. */
const LOCAL_TYPES: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1, 0xca451a4e, 0x858458f6,
  0x11, 0x1a,
]);

/** The clock of the file system that holds a directory. */
export function fileClockOf(directory: string): FileClock {
  return fileClock(isLocal(directory));
}

export function fileClock(isOurs: boolean): FileClock {
  return {
    isOurs,
    isSettled(mtimeNs, ctimeNs, startMs) {
      if (!isOurs) return false;
      const start = BigInt(Math.floor(startMs)) * 1_000_000n;
      const hasWholeSeconds = ctimeNs % 1_000_000_000n === 0n;
      const limit = start - (hasWholeSeconds ? SECOND_MARGIN_NS : TICK_MARGIN_NS);
      return mtimeNs < limit && ctimeNs < limit;
    },
  };
}

function isLocal(directory: string): boolean {
  try {
    return LOCAL_TYPES.has(Number(statfsSync(toFsPath(directory)).type) >>> 0);
  } catch {
    return false;
  }
}
