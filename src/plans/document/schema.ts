import { z } from 'zod';
import { SANDBOX_STRATEGIES } from '../../domain/plan.ts';

/** 24 hours: beyond it a timer of Node overflows soon. */
const LONGEST = 24 * 3600 * 1000;
const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

const DURATION = 'a duration like 500ms, 30s, 5m, 1h, or seconds';

/** `"500ms"`, `"30s"`, `"5m"`, `"1h"`, or a number of seconds; ms. */
const duration = z
  .union([z.number(), z.string().regex(/^\d+(ms|s|m|h)$/, { error: DURATION })], { error: DURATION })
  .transform((value) => {
    if (typeof value === 'number') return Math.round(value * 1000);
    const unit = /[a-z]+$/.exec(value)?.[0] as keyof typeof UNITS;
    return Number.parseInt(value, 10) * UNITS[unit];
  })
  .refine((ms) => ms >= 1 && ms <= LONGEST, { error: 'a duration from 1ms to 24h' });

const text = z.string().refine((value) => !value.includes('\0'), { error: 'must not contain NUL' });
const words = text.min(1);
const name = text
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}]*$/u, { error: 'must not contain control characters' });
const scalar = z
  .union([z.string(), z.number(), z.boolean()], { error: 'a string, number or boolean' })
  .transform(String);
const environment = z
  .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'not a variable name' }), scalar)
  .default({});

const common = {
  id: z
    .string()
    .regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/, { error: 'letters, digits, _ . -' })
    .optional(),
  title: name.optional(),
  timeout: duration.optional(),
  retry: z.number().int().min(0).max(10).default(0),
  continue_on_error: z.boolean().default(false),
};

const replacement = z.strictObject({ search: words, replace: text });

export const TOOL_SCHEMAS = {
  write_file: z.strictObject({
    ...common,
    tool: z.literal('write_file'),
    path: words,
    content: z.string(),
    executable: z.boolean().optional(),
  }),
  edit_file: z
    .strictObject({
      ...common,
      tool: z.literal('edit_file'),
      path: words,
      search: words.optional(),
      replace: text.optional(),
      edits: z.array(replacement).min(1).optional(),
    })
    .refine((step) => (step.edits === undefined) === (step.search !== undefined), {
      error: 'needs either search and replace, or edits',
    })
    .refine((step) => (step.search === undefined) === (step.replace === undefined), {
      error: 'search and replace go together',
    }),
  delete_file: z.strictObject({ ...common, tool: z.literal('delete_file'), path: words }),
  apply_patch: z.strictObject({ ...common, tool: z.literal('apply_patch'), patch: z.string().min(1) }),
  shell: z.strictObject({
    ...common,
    tool: z.literal('shell'),
    command: z.union([words, z.array(text).min(1)], {
      error: 'a command line, or a program and its arguments',
    }),
    cwd: words.optional(),
    env: environment,
  }),
  agent: z
    .strictObject({
      ...common,
      tool: z.literal('agent'),
      agent: words.optional(),
      command: z.array(text).min(1).optional(),
      prompt: words,
      cwd: words.optional(),
      env: environment,
    })
    .refine((step) => step.agent === undefined || step.command === undefined, {
      error: 'needs either agent or command, not both',
    }),
} as const;

const subplanSandbox = z.enum(['shared', 'filesystem_copy', 'git_worktree']).optional();

/** A subplan is a path to a file or a plan in place; it is checked by itself. */
export const SUBPLAN_SCHEMA = z.strictObject({
  ...common,
  subplan: z
    .unknown()
    .refine((value) => value !== undefined && value !== null, { error: 'a plan or a file' }),
  sandbox: subplanSandbox,
});

export const PARALLEL_SCHEMA = z.strictObject({
  ...common,
  parallel: z.array(z.unknown()).min(1).max(64),
  sandbox: subplanSandbox,
  max_parallel: z.number().int().min(1).max(64).optional(),
});

/** `steps` are checked one by one, each by the schema of its kind. */
export const PLAN_SCHEMA = z.strictObject({
  name: name.optional(),
  description: text.optional(),
  sandbox: z.enum(SANDBOX_STRATEGIES).optional(),
  variables: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'not a variable name' }), scalar)
    .default({}),
  guidance: z
    .union([words.transform((one) => [one]), z.array(words)], { error: 'a string or a list of strings' })
    .default([]),
  steps: z.array(z.unknown()).min(1).max(1000),
});

export type { z };
