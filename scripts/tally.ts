/** Counts checks and prints them; the last line of a whole run is `N passed, N failed`. */
export class Tally {
  passed = 0;
  failed = 0;

  /** Runs one check; anything it throws is its failure. */
  check(name: string, body: () => void): void {
    const start = performance.now();
    let problem: string | undefined;
    try {
      body();
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
    }
    this.add(problem === undefined ? 1 : 0, problem === undefined ? 0 : 1);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    process.stdout.write(`${problem === undefined ? 'ok' : 'FAILED'}  ${name} (${seconds} s)\n`);
    if (problem !== undefined) process.stdout.write(`${problem.replaceAll(/^/gm, '    ')}\n`);
  }

  add(passed: number, failed: number): void {
    this.passed += passed;
    this.failed += failed;
  }

  summary(): string {
    return `${this.passed} passed, ${this.failed} failed`;
  }
}
