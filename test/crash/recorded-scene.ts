import type { DiskImage } from './disk-image.ts';

/** A scene that was played to its end. */
export interface RecordedScene {
  /** the workspace at either end, as `treeListing` lists it */
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** ids before the scene, newest first */
  readonly checkpoints: readonly string[];
  /** how many changing calls it made */
  readonly steps: number;
  /** what was on the disk right before a changing call, and at the end: each disk that differs from the one before it */
  readonly instants: readonly { readonly step: string; readonly image: DiskImage }[];
}
