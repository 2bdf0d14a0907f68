import { InvalidArgumentError } from 'commander';

/** Takes the name of a directory, as an option has it. An empty one, as of a variable that is not set, is a mistake of usage. */
export function directoryName(text: string): string {
  if (text === '') throw new InvalidArgumentError('It names no directory.');
  return text;
}
