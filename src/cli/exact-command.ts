import { encodeName } from '../domain/rel-path.ts';

/**
 * The command to start for `argv`. Node can't hand on bytes that are not UTF-8 ({@link encodeName}); where there are some,
 * a shell spells them out and becomes the program.
 */
export function exactCommand(argv: readonly string[]): readonly string[] {
  if (argv.every((argument) => argument.isWellFormed())) return argv;
  const setting = argv.flatMap((argument, at) =>
    // `$(…)` drops newlines at the end, hence the x.
    argument.isWellFormed() ? [] : [`a${at}=$(printf '${octal(argument)}x')`],
  );
  const words = argv.map((argument, at) =>
    argument.isWellFormed() ? `'${argument.replaceAll("'", "'\\''")}'` : `"\${a${at}%x}"`,
  );
  return ['/bin/sh', '-c', [...setting, `exec ${words.join(' ')}`].join('\n')];
}

function octal(text: string): string {
  return [...encodeName(text)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}
