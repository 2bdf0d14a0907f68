/** Something that breaks the layering. */
export interface Violation {
  readonly line: number;
  readonly message: string;
}
