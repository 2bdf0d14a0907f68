import { dirname, resolve } from 'node:path';
import type { PlanDocument, Step } from './plan-document.ts';
import { checkSandboxDirectory, checkSandboxPath } from './sandbox-path.ts';
import { PARALLEL_SCHEMA, PLAN_SCHEMA, SUBPLAN_SCHEMA, TOOL_SCHEMAS, type z } from './schema.ts';
import { type DocumentPath, type DocumentProblem, invalidPlan, type ParsedSource } from './source-map.ts';
import { substitute, type Variables } from './variables.ts';

/** What surrounds the plan that is checked. */
export interface CheckContext {
  /** inherited by name; the plan's own come first */
  readonly variables: Variables;
  /** depth of subplans */
  readonly depth: number;
  /** Reads a subplan's file. @throws WaymarkError for one that is missing, invalid or already being read */
  readonly readPlan: (file: string, context: CheckContext) => Promise<PlanDocument>;
}

const DEEPEST = 16;

/**
 * Checks a parsed plan file against the schema, fills in variables and reads the files of subplans.
 *
 * @throws WaymarkError `VALIDATION_ERROR` with every problem, its line and column
 */
export async function checkPlan(source: ParsedSource, context: CheckContext): Promise<PlanDocument> {
  const checker = new Checker(source);
  const plan = await checker.plan(source.value, [], context, undefined);
  if (plan === undefined || checker.problems.length > 0) throw invalidPlan(source.file, checker.problems);
  return plan;
}

class Checker {
  readonly problems: DocumentProblem[] = [];
  readonly #source: ParsedSource;

  constructor(source: ParsedSource) {
    this.#source = source;
  }

  async plan(
    value: unknown,
    path: DocumentPath,
    context: CheckContext,
    fallbackName: string | undefined,
  ): Promise<PlanDocument | undefined> {
    if (context.depth > DEEPEST) return this.#problem(path, `subplans nest deeper than ${DEEPEST}`);
    const parsed = this.#parse(PLAN_SCHEMA, value, path);
    if (parsed === undefined) return undefined;
    const variables = { ...context.variables, ...parsed.variables };
    const loose = (text: string) => substitute(text, variables).text;
    const inner = { ...context, variables };
    const steps: Step[] = [];
    const ids = new Set<string>();
    for (const [at, raw] of parsed.steps.entries()) {
      const step = await this.#step(raw, [...path, 'steps', at], inner);
      if (step === undefined) continue;
      if (step.id !== undefined && ids.has(step.id))
        this.#problem([...path, 'steps', at, 'id'], `"${step.id}" is taken`);
      if (step.id !== undefined) ids.add(step.id);
      steps.push(step);
    }
    return {
      name: this.#strict(
        parsed.name ?? fallbackName ?? fileTitle(this.#source.file),
        [...path, 'name'],
        variables,
      ),
      ...(parsed.description === undefined ? {} : { description: loose(parsed.description) }),
      ...(parsed.sandbox === undefined ? {} : { sandbox: parsed.sandbox }),
      guidance: parsed.guidance.map(loose),
      steps,
    };
  }

  async #step(raw: unknown, path: DocumentPath, context: CheckContext): Promise<Step | undefined> {
    const keys =
      typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? Object.keys(raw) : undefined;
    if (keys === undefined) return this.#problem(path, 'must be a step');
    const kinds = ['tool', 'subplan', 'parallel'].filter((kind) => keys.includes(kind));
    if (kinds.length !== 1) return this.#problem(path, 'needs exactly one of tool, subplan, parallel');
    if (kinds[0] === 'subplan') return this.#subplan(raw, path, context);
    if (kinds[0] === 'parallel') return this.#parallel(raw, path, context);
    return this.#tool(raw, path, context);
  }

  async #subplan(raw: unknown, path: DocumentPath, context: CheckContext): Promise<Step | undefined> {
    const step = this.#parse(SUBPLAN_SCHEMA, raw, path);
    if (step === undefined) return undefined;
    const subplan = await this.#child(step.subplan, [...path, 'subplan'], context, 'subplan');
    if (subplan === undefined) return undefined;
    const { sandbox } = subplan;
    return { ...commonOf(step), subplan, sandbox: step.sandbox ?? shareable(sandbox) ?? 'shared' };
  }

  async #parallel(raw: unknown, path: DocumentPath, context: CheckContext): Promise<Step | undefined> {
    const step = this.#parse(PARALLEL_SCHEMA, raw, path);
    if (step === undefined) return undefined;
    const children: PlanDocument[] = [];
    for (const [at, value] of step.parallel.entries()) {
      const child = await this.#child(value, [...path, 'parallel', at], context, `lane ${at + 1}`);
      if (child !== undefined) children.push(child);
    }
    return {
      ...commonOf(step),
      parallel: children,
      sandbox: step.sandbox ?? 'filesystem_copy',
      ...(step.max_parallel === undefined ? {} : { maxParallel: step.max_parallel }),
    };
  }

  async #child(
    value: unknown,
    path: DocumentPath,
    context: CheckContext,
    fallbackName: string,
  ): Promise<PlanDocument | undefined> {
    const inner = { ...context, depth: context.depth + 1 };
    if (typeof value !== 'string') return this.plan(value, path, inner, fallbackName);
    const file = this.#strict(value, path, context.variables);
    try {
      return await context.readPlan(resolve(dirname(this.#source.file), file), inner);
    } catch (error) {
      return this.#problem(path, (error as Error).message);
    }
  }

  #tool(raw: unknown, path: DocumentPath, context: CheckContext): Step | undefined {
    const tool = (raw as { readonly tool: unknown }).tool;
    if (typeof tool !== 'string' || !Object.hasOwn(TOOL_SCHEMAS, tool)) {
      const known = Object.keys(TOOL_SCHEMAS).join(', ');
      return this.#problem([...path, 'tool'], `no tool ${JSON.stringify(tool)}; the tools are ${known}`);
    }
    const step = this.#parse(TOOL_SCHEMAS[tool as keyof typeof TOOL_SCHEMAS], raw, path);
    if (step === undefined) return undefined;
    const { variables } = context;
    const loose = (text: string) => substitute(text, variables).text;
    const strict = (text: string, key: string) => this.#strict(text, [...path, key], variables);
    const words = (values: readonly string[], key: string) => values.map((value) => strict(value, key));
    const inside = (text: string, key = 'path', check: (path: string) => unknown = checkSandboxPath) => {
      const filled = strict(text, key);
      this.#attempt([...path, key], () => check(filled));
      return filled;
    };
    const common = commonOf(step);
    const place = (where: {
      readonly cwd?: string | undefined;
      readonly env: Readonly<Record<string, string>>;
    }) => ({
      ...(where.cwd === undefined ? {} : { cwd: inside(where.cwd, 'cwd', checkSandboxDirectory) }),
      env: Object.fromEntries(Object.entries(where.env).map(([key, value]) => [key, strict(value, 'env')])),
    });
    switch (step.tool) {
      case 'write_file':
        return {
          ...common,
          tool: step.tool,
          path: inside(step.path),
          content: loose(step.content),
          ...(step.executable === undefined ? {} : { executable: step.executable }),
        };
      case 'edit_file': {
        const edits = step.edits ?? [{ search: step.search ?? '', replace: step.replace ?? '' }];
        return {
          ...common,
          tool: step.tool,
          path: inside(step.path),
          edits: edits.map(({ search, replace }) => ({ search: loose(search), replace: loose(replace) })),
        };
      }
      case 'delete_file':
        return { ...common, tool: step.tool, path: inside(step.path) };
      case 'apply_patch':
        return { ...common, tool: step.tool, patch: loose(step.patch) };
      case 'shell': {
        const { command } = step;
        return {
          ...common,
          tool: step.tool,
          command: typeof command === 'string' ? strict(command, 'command') : words(command, 'command'),
          ...place(step),
        };
      }
      case 'agent':
        return {
          ...common,
          tool: step.tool,
          prompt: loose(step.prompt),
          ...(step.agent === undefined ? {} : { agent: strict(step.agent, 'agent') }),
          ...(step.command === undefined ? {} : { command: words(step.command, 'command') }),
          ...place(step),
        };
    }
  }

  #parse<Schema extends z.ZodType>(
    schema: Schema,
    value: unknown,
    path: DocumentPath,
  ): z.output<Schema> | undefined {
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    for (const issue of result.error.issues) {
      const at = [...path, ...issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))];
      if (issue.code === 'unrecognized_keys') {
        for (const key of issue.keys) this.#problem([...at, key], 'unknown key');
      } else this.#problem(at, issue.message);
    }
    return undefined;
  }

  /** Fills in variables where an unknown name can only be a mistake. */
  #strict(text: string, path: DocumentPath, variables: Variables): string {
    const filled = substitute(text, variables);
    for (const name of filled.unknown) this.#problem(path, `no variable "${name}"`);
    return filled.text;
  }

  /** What a check throws is a problem of the value at `path`. */
  #attempt(path: DocumentPath, check: () => unknown): void {
    try {
      check();
    } catch (error) {
      this.#problem(path, (error as Error).message);
    }
  }

  #problem(path: DocumentPath, message: string): undefined {
    this.problems.push({ path, message, ...this.#source.locate(path) });
  }
}

function commonOf(step: {
  readonly id?: string | undefined;
  readonly title?: string | undefined;
  readonly timeout?: number | undefined;
  readonly retry: number;
  readonly continue_on_error: boolean;
}) {
  return {
    ...(step.id === undefined ? {} : { id: step.id }),
    ...(step.title === undefined ? {} : { title: step.title }),
    ...(step.timeout === undefined ? {} : { timeoutMs: step.timeout }),
    retry: step.retry,
    continueOnError: step.continue_on_error,
  };
}

function shareable(sandbox: PlanDocument['sandbox']) {
  return sandbox === 'none' ? 'shared' : sandbox;
}

function fileTitle(file: string): string {
  const base = file.slice(file.lastIndexOf('/') + 1);
  return base.replace(/\.(ya?ml|json)$/i, '') || base;
}
