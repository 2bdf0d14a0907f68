import { encodeName } from '../../domain/rel-path.ts';

const NOT_ASCII = /[\u0080-\uffff]/;

/** Turns a path, name or pattern into a string with one character per byte of its file system form: git matches bytes, not characters. */
export function byteString(text: string): string {
  return NOT_ASCII.test(text) ? encodeName(text).toString('latin1') : text;
}
