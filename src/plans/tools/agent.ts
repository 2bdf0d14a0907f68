import { WaymarkError } from '../../domain/errors.ts';
import type { AgentStep } from '../document/plan-document.ts';
import { runCommand } from './run-command.ts';
import { directoryInside } from './sandbox-place.ts';
import type { Tool, ToolContext } from './tool.ts';

/** Stands for the prompt in an agent's arguments. */
const PLACEHOLDER = '{prompt}';

/** Runs an agent's command with the prompt, the plan's guidance before it: in the argument that says `{prompt}`, else on standard input. */
export const agent: Tool<AgentStep> = {
  name: 'agent',
  writes: true,
  async run(step, context) {
    const argv = commandOf(step, context);
    const prompt = promptOf(step.prompt, context.guidance);
    const asArgument = argv.some((word) => word.includes(PLACEHOLDER));
    return runCommand(
      {
        command: { argv: argv.map((word) => word.replaceAll(PLACEHOLDER, () => prompt)) },
        name: step.agent ?? argv[0] ?? 'agent',
        cwd: directoryInside(context.root, step.cwd),
        env: step.env,
        timeoutMs: step.timeoutMs,
        ...(asArgument ? {} : { input: Buffer.from(prompt, 'utf8') }),
      },
      context,
    );
  },
};

function commandOf(step: AgentStep, { agents }: ToolContext): readonly string[] {
  if (step.command !== undefined) return step.command;
  const name = step.agent ?? 'default';
  const command = Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (command !== undefined && command.length > 0) return command;
  const known = Object.keys(agents);
  throw new WaymarkError('CONFIG_INVALID', `No agent "${name}" is configured`, {
    hint:
      known.length > 0
        ? `Configured: ${known.join(', ')}`
        : 'Add it under [agents] in your waymark.toml, or trust the one of the workspace: waymark trust',
  });
}

function promptOf(prompt: string, guidance: readonly string[]): string {
  if (guidance.length === 0) return prompt;
  return `Guidance:\n${guidance.map((line) => `- ${line}`).join('\n')}\n\n${prompt}`;
}
