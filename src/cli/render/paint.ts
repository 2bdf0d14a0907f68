import type { Tone } from './block.ts';

const CODES: Readonly<Record<Tone, string>> = {
  plain: '',
  dim: '2',
  strong: '1',
  good: '32',
  bad: '31',
  warn: '33',
  accent: '36',
};

/** Colours a text, or leaves it where colours are off. */
export function paint(text: string, tone: Tone | undefined, colors: boolean): string {
  const code = CODES[tone ?? 'plain'];
  return colors && code !== '' ? `\u001b[${code}m${text}\u001b[0m` : text;
}
