/** How a result is printed. `rich` is for people at a terminal, `plain` for pipes and scripts. */
export const FORMATS = ['json', 'yaml', 'plain', 'table', 'rich'] as const;
export type Format = (typeof FORMATS)[number];

/** The given format, else the one that fits where the output goes. */
export function chooseFormat(given: string | undefined, outputIsTerminal: boolean): Format {
  const named = FORMATS.find((format) => format === given);
  return named ?? (outputIsTerminal ? 'rich' : 'plain');
}

/** Finds the format in arguments that could not be parsed, so that even that is reported in it. */
export function formatIn(argv: readonly string[]): string | undefined {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  for (const [index, word] of words.entries()) {
    const joined = /^(?:--format=|-f=?)(.+)$/.exec(word);
    if (joined) return joined[1];
    if (word === '--format' || word === '-f') return words[index + 1];
  }
  return undefined;
}
