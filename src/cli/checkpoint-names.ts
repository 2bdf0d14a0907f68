import type { CheckpointName } from '../checkpoints/api/checkpoints.ts';
import { WaymarkError } from '../domain/errors.ts';

export interface NamesAndRest {
  readonly names: readonly CheckpointName[];
  /** the words that are no names: paths */
  readonly rest: readonly string[];
}

/**
 * Takes up to `most` checkpoint names off the front of the words. Digits after a session's name are a seq.
 *
 * @param isSession tells whether a word names a session; asked only before digits
 */
export async function takeNames(
  words: readonly string[],
  most: number,
  isSession: (word: string) => Promise<boolean>,
): Promise<NamesAndRest> {
  const names: CheckpointName[] = [];
  let at = 0;
  while (names.length < most && at < words.length) {
    const word = words[at] ?? '';
    const next = words[at + 1];
    if (next !== undefined && /^\d{1,9}$/.test(next) && (await isSession(word))) {
      names.push({ session: word, seq: Number(next) });
      at += 2;
    } else {
      names.push(word);
      at += 1;
    }
  }
  return { names, rest: words.slice(at) };
}

/** Takes exactly one name and leaves the paths. @throws WaymarkError `USAGE` without any */
export async function takeName(
  words: readonly string[],
  isSession: (word: string) => Promise<boolean>,
): Promise<{ readonly name: CheckpointName; readonly rest: readonly string[] }> {
  const { names, rest } = await takeNames(words, 1, isSession);
  const [name] = names;
  if (name === undefined || name === '') throw new WaymarkError('USAGE', 'No checkpoint is named');
  return { name, rest };
}

/** The only word-or-pair of a command that takes no paths. @throws WaymarkError `USAGE` for more */
export async function onlyName(
  words: readonly string[],
  isSession: (word: string) => Promise<boolean>,
): Promise<CheckpointName> {
  const { name, rest } = await takeName(words, isSession);
  if (rest.length === 0) return name;
  const sequel = /^\d+$/.test(rest[0] ?? '') && typeof name === 'string';
  if (sequel) {
    throw new WaymarkError('SESSION_NOT_FOUND', `No session named "${name}" has checkpoints`, {
      hint: 'See: waymark checkpoints list --all',
    });
  }
  throw new WaymarkError('USAGE', `Unexpected argument "${rest[0]}"`);
}
