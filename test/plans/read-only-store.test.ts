import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cliSandbox } from '../support/cli-sandbox.ts';
import { NOBODY, waymarkAsNobody } from '../support/program-for-others.ts';

const PLAN = `
steps:
  - { tool: write_file, path: a, content: "1" }
  - { tool: shell, command: "chmod -R a-w $WAYMARK_HOME/projects $WAYMARK_HOME/checkpoints; echo 2 > b" }
  - { tool: write_file, path: c, content: "3" }
`;

test.each(['cas', 'git'])(
  'a store made read-only during a plan fails no step, and status says what is not covered, engine %s',
  async (engine) => {
    const place = cliSandbox();
    place.write('waymark.toml', `[store]\nengine = "${engine}"\n`);
    place.write('../plan.yaml', PLAN);
    chmodSync(place.base, 0o755);
    if (process.getuid?.() === 0) execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, place.base]);
    // The system's own OpenSSL settings need not be readable for everybody.
    const run = waymarkAsNobody(place.work, { ...place.env, OPENSSL_CONF: '/dev/null' });
    const plan = await run('plan', 'run', join(place.base, 'plan.yaml'), '--quiet', '--format', 'plain');
    const id = plan.stdout.trim();
    expect(plan.status).toBe(0);
    expect(['a', 'b', 'c'].map((name) => place.read(name))).toEqual(['1', '2\n', '3']);
    const status = JSON.parse((await run('plan', 'status', id, '--format', 'json')).stdout);
    expect(status).toMatchObject({
      state: 'complete',
      decisions: { complete: 3 },
      checkpoints: { taken: 4 },
    });
    const missed: readonly { checkpoint_type: string; message: string }[] = status.checkpoints.missed;
    expect(missed.map(({ checkpoint_type: type }) => type).slice(0, 3)).toEqual([
      'post_step',
      'pre_write',
      'post_step',
    ]);
    for (const { message } of missed) expect(message).toMatch(/permission denied/i);
    const shown = await run('plan', 'status', id, '--format', 'rich');
    expect(shown.stdout).toContain(`${missed.length} checkpoints not taken:`);
    execFileSync('chmod', ['-R', 'u+w', place.home]);
    expect((await run('doctor')).stdout).toBe('4 checkpoints, 0 problems\n');
  },
);
