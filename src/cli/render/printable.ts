/**
 * Makes control characters visible, and those that turn the writing direction, so that no stored text can move the cursor,
 * start a new line or pass for another.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (character === '\n') return '\\n';
    if (character === '\t') return '\\t';
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16)}`;
  });
}
