import type { AgentStep } from '../document/plan-document.ts';
import { configuredAgent } from './configured-agent.ts';
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
  return step.command ?? configuredAgent(agents, step.agent ?? 'default');
}

function promptOf(prompt: string, guidance: readonly string[]): string {
  if (guidance.length === 0) return prompt;
  return `Guidance:\n${guidance.map((line) => `- ${line}`).join('\n')}\n\n${prompt}`;
}
