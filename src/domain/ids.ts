import { WaymarkError } from './errors.ts';

declare const brand: unique symbol;
type Branded<T, Name extends string> = T & { readonly [brand]: Name };

/** ULID, upper case (26 characters of Crockford base 32). */
export type CheckpointId = Branded<string, 'CheckpointId'>;
export type OperationId = Branded<string, 'OperationId'>;
export type PlanId = Branded<string, 'PlanId'>;
export type DecisionId = Branded<string, 'DecisionId'>;
export type SessionId = Branded<string, 'SessionId'>;
/** `exec-<ulid>` or `plan-<ulid>`, lower case, or a name the user chose for a worktree run. */
export type RunId = Branded<string, 'RunId'>;
/** SHA-256 in lower-case hex, of a blob's bytes. */
export type ContentHash = Branded<string, 'ContentHash'>;
/** First 16 hex digits of SHA-256 of a real path. */
export type DirHash = Branded<string, 'DirHash'>;

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const SESSION = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const HASH = /^[0-9a-f]{64}$/;
const DIR_HASH = /^[0-9a-f]{16}$/;

export function isUlid(text: string): boolean {
  return ULID.test(text);
}

/** Reads a ULID in any letter case. @throws WaymarkError `VALIDATION_ERROR` */
export function parseUlid<Id extends CheckpointId | OperationId | PlanId | DecisionId>(text: string): Id {
  const upper = text.toUpperCase();
  if (!ULID.test(upper)) throw new WaymarkError('VALIDATION_ERROR', `"${text}" is not a ULID`);
  return upper as Id;
}

/** @throws WaymarkError `VALIDATION_ERROR` unless `text` is `[A-Za-z0-9][A-Za-z0-9._-]{0,127}` and not `blobs` */
export function parseSessionId(text: string): SessionId {
  if (!SESSION.test(text) || text.toLowerCase() === 'blobs') {
    throw new WaymarkError('VALIDATION_ERROR', `"${text}" is not a session id`, {
      hint: 'Session ids start with a letter or digit, then up to 127 of A-Z a-z 0-9 . _ - (and are not "blobs")',
    });
  }
  return text as SessionId;
}

export function isContentHash(text: string): text is ContentHash {
  return HASH.test(text);
}

export function isDirHash(text: string): text is DirHash {
  return DIR_HASH.test(text);
}
