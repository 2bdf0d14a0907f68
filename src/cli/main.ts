import type { CommandModule } from './command.ts';
import { COMMANDS } from './commands.ts';
import { exactArguments } from './exact-arguments.ts';
import { EXIT } from './exit-status.ts';
import { reportFailure } from './failure.ts';
import { chooseFormat, formatIn } from './format.ts';
import { interrupts } from './interrupts.ts';
import { parse, UsageError } from './parse.ts';
import { processContext } from './process-context.ts';
import { printResult } from './render/print-result.ts';
import { createTerminal, type Terminal } from './terminal.ts';

/** Runs one command line in this process and ends it. */
export async function main(host: NodeJS.Process, version: string): Promise<void> {
  const terminal = createTerminal(host);
  const status = await run(host, terminal, version);
  await terminal.flush();
  host.exit(status === EXIT.done && terminal.outputLost ? EXIT.failed : status);
}

async function run(host: NodeJS.Process, terminal: Terminal, version: string): Promise<number> {
  const argv = exactArguments(host.argv.slice(2));
  let module: CommandModule | undefined;
  let format = chooseFormat(formatIn(argv), terminal.outIsTerminal);
  try {
    const request = await parse(argv, COMMANDS, version);
    if (request.kind === 'text') {
      terminal.out(request.text);
      return EXIT.done;
    }
    const { options } = request.invocation;
    module = request.module;
    format = chooseFormat(options.text('format'), terminal.outIsTerminal);
    using interrupt = interrupts(host, module.onInterrupt);
    await using context = processContext(host.env, options, { terminal, format, signal: interrupt.signal });
    const result = await module.run(context, request.invocation);
    await printResult(terminal, format, result);
    return result.exitStatus ?? EXIT.done;
  } catch (error) {
    if (error instanceof UsageError) module = error.module;
    const status = await reportFailure(terminal, format, error, Boolean(host.env['WAYMARK_DEBUG']));
    return module?.exitStatusOf?.(error) ?? status;
  }
}
