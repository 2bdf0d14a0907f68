import { WaymarkError } from '../domain/errors.ts';
import type { FrozenRules, IgnoreFile } from '../domain/rules.ts';

/** Rules as the bytes of a blob: JSON with the keys in one order, so that equal rules share a blob. */
export function encodeRules(rules: FrozenRules): Buffer {
  const { limits } = rules;
  const ordered: FrozenRules = {
    version: rules.version,
    limits: {
      maxFileBytes: limits.maxFileBytes,
      maxTotalBytes: limits.maxTotalBytes,
      maxFiles: limits.maxFiles,
    },
    include: rules.include,
    exclude: rules.exclude,
    ignoreFiles: rules.ignoreFiles.map(({ dir, source, text }) => ({ dir, source, text })),
    trackedExceptions: rules.trackedExceptions,
    forbidden: rules.forbidden,
    selection: rules.selection,
  };
  return Buffer.from(JSON.stringify(ordered));
}

/** Reads them back. @throws WaymarkError `FORMAT_UNSUPPORTED` for another version, `MANIFEST_INVALID` for anything else that is not rules */
export function decodeRules(bytes: Buffer): FrozenRules {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new WaymarkError('MANIFEST_INVALID', 'The frozen rules of a snapshot are not JSON', {
      cause: error,
    });
  }
  const rules = value as Partial<FrozenRules> | null;
  if (typeof rules !== 'object' || rules === null) throw invalid();
  if (rules.version !== 1) {
    throw new WaymarkError('FORMAT_UNSUPPORTED', `Frozen rules have version ${rules.version}, known is 1`);
  }
  const limits = rules.limits as Partial<FrozenRules['limits']> | undefined;
  const sound =
    [limits?.maxFileBytes, limits?.maxTotalBytes, limits?.maxFiles].every(
      (limit) => typeof limit === 'number',
    ) &&
    [rules.include, rules.exclude, rules.trackedExceptions, rules.forbidden, rules.selection].every(
      isTexts,
    ) &&
    Array.isArray(rules.ignoreFiles) &&
    rules.ignoreFiles.every(isIgnoreFile);
  if (!sound) throw invalid();
  return rules as FrozenRules;
}

function invalid(): WaymarkError {
  return new WaymarkError('MANIFEST_INVALID', 'The frozen rules of a snapshot are incomplete');
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isIgnoreFile(value: unknown): boolean {
  const file = value as Partial<IgnoreFile> | null;
  return (
    typeof file === 'object' &&
    file !== null &&
    [file.dir, file.source, file.text].every((text) => typeof text === 'string')
  );
}
