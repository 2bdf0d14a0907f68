/** How a cell or line is coloured where colours are wanted. */
export type Tone = 'plain' | 'dim' | 'strong' | 'good' | 'bad' | 'warn' | 'accent';

export interface Column {
  readonly title: string;
  readonly tone?: Tone;
}

/** A piece of text output. Every text is raw; renderers make control characters visible. */
export type Block =
  | { readonly kind: 'line'; readonly text: string; readonly tone?: Tone }
  | {
      readonly kind: 'table';
      readonly columns: readonly Column[];
      readonly rows: readonly (readonly string[])[];
      /** `rich` shows at most so many rows, and says how many more there are. */
      readonly most?: number;
    }
  | { readonly kind: 'fields'; readonly fields: readonly (readonly [name: string, value: string])[] };

/** One line of text. */
export function line(text: string, tone?: Tone): Block {
  return tone === undefined ? { kind: 'line', text } : { kind: 'line', text, tone };
}
