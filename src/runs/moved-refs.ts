/** A git ref whose value differs; null where it does not exist. */
export interface MovedRef {
  readonly ref: string;
  readonly from: string | null;
  readonly to: string | null;
}

/** Compares all refs of a repository at two moments, in name order. */
export function movedRefs(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly MovedRef[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.flatMap((ref) => {
    const from = before.get(ref) ?? null;
    const to = after.get(ref) ?? null;
    return from === to ? [] : [{ ref, from, to }];
  });
}
