import { decodeName } from '../../domain/rel-path.ts';

/** Splits the output of a `-z` command; names are in {@link decodeName} form. */
export function nulSeparated(output: Buffer): string[] {
  const parts: string[] = [];
  for (let at = 0; at < output.length; ) {
    const found = output.indexOf(0, at);
    const end = found < 0 ? output.length : found;
    parts.push(decodeName(output.subarray(at, end)));
    at = end + 1;
  }
  return parts;
}

/** The one line a command printed, without the newline that ends it (a name may hold others). */
export function singleLine(output: Buffer): string {
  return decodeName(output).replace(/\n$/, '');
}

/** The lines a command printed. */
export function linesOf(output: Buffer): string[] {
  return decodeName(output)
    .split('\n')
    .filter((line) => line !== '');
}
