import { WaymarkError } from '../../domain/errors.ts';
import type { PlanDocument, Step } from '../document/plan-document.ts';

export type AgentCommands = Readonly<Record<string, readonly string[]>>;

/** The command of the agent that is configured under a name. @throws WaymarkError `CONFIG_INVALID` where there is none */
export function configuredAgent(agents: AgentCommands, name: string): readonly string[] {
  const command = Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (command !== undefined && command.length > 0) return command;
  const known = Object.keys(agents);
  const others = known.length > 0 ? `Configured: ${known.join(', ')}. ` : '';
  throw new WaymarkError('CONFIG_INVALID', `No agent "${name}" is configured`, {
    hint: `${others}Add it under [agents] in your own waymark.toml, or in that of the workspace and then: waymark trust`,
  });
}

/** Looks for the agent of every step, subplans' too. @throws WaymarkError `CONFIG_INVALID` for the first that is not configured */
export function requireAgents(agents: AgentCommands, { steps }: PlanDocument): void {
  for (const step of steps) requireAgent(agents, step);
}

function requireAgent(agents: AgentCommands, step: Step): void {
  if ('subplan' in step) requireAgents(agents, step.subplan);
  else if ('parallel' in step) for (const lane of step.parallel) requireAgents(agents, lane);
  else if (step.tool === 'agent' && step.command === undefined)
    configuredAgent(agents, step.agent ?? 'default');
}
