/** Something a person should know although the work was done. `paths` is never cut. */
export interface Notice {
  readonly kind:
    | 'filter_disabled'
    | 'submodule_not_initialised'
    | 'seed_skipped'
    | 'recreated'
    | 'branch_kept'
    | 'resumed_unfinished';
  /** one sentence */
  readonly message: string;
  readonly paths: readonly string[];
}
