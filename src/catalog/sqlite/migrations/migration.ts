/** One step of the schema. Steps are never edited once released; a new one is added to the list. */
export interface Migration {
  /** `user_version` of a database that has it */
  readonly version: number;
  readonly sql: string;
}
