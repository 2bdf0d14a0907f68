import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { runCommand } from '../../scripts/run-command.ts';

/** Where a measurement was made; `load` is the one-minute average when it began. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly system: string;
  readonly node: string;
  readonly git: string;
  /** type of the file system that everything lies on */
  readonly fileSystem: string;
  readonly load: number;
}

export function describeMachine(place: string): Machine {
  const fileSystem = runCommand('stat', ['-f', '-c', '%T', place], { cwd: place });
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
    system: `${type()} ${release()}`,
    node: process.version,
    git: runCommand('git', ['--version'], { cwd: place }).stdout.trim(),
    fileSystem: fileSystem.status === 0 ? fileSystem.stdout.trim() : 'unknown',
    load: loadavg()[0] ?? 0,
  };
}

/** One line for people. */
export function machineText(machine: Machine): string {
  const { cpu, cores, memoryBytes, system, node, git, fileSystem, load } = machine;
  const memory = `${Math.round(memoryBytes / 1024 ** 3)} GiB`;
  return `${cpu}, ${cores} cores, ${memory}, ${system}, Node ${node}, ${git}, ${fileSystem}, load ${load.toFixed(1)}`;
}
