/** Values by name, as `{{ name }}` in a plan's strings stands for them. */
export type Variables = Readonly<Record<string, string>>;

const REFERENCE = /\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g;

export interface Substitution {
  readonly text: string;
  /** names that nobody declared; they stay in the text as they are */
  readonly unknown: readonly string[];
}

/** Replaces `{{ name }}`; a value is never looked into again. */
export function substitute(text: string, variables: Variables): Substitution {
  const unknown: string[] = [];
  const replaced = text.replace(REFERENCE, (reference, name: string) => {
    if (Object.hasOwn(variables, name)) return variables[name] ?? '';
    unknown.push(name);
    return reference;
  });
  return { text: replaced, unknown };
}
