/** Reported while a capture, restore or verification goes on. `total` is undefined while unknown. */
export interface Progress {
  readonly phase: 'walk' | 'read' | 'store' | 'plan' | 'apply' | 'verify' | 'collect';
  readonly done: number;
  readonly total: number | undefined;
}
