import type { CommandModule } from '../command.ts';
import { line } from '../render/block.ts';
import { SKILL } from '../skill-text.ts';

/** `waymark skill` */
export const skill: CommandModule = {
  configure: () => {},
  examples: [['waymark skill > .claude/skills/waymark/SKILL.md', 'teach an agent to use Waymark']],
  async run() {
    return {
      data: () => ({ name: 'waymark', markdown: SKILL }),
      blocks: () =>
        SKILL.trimEnd()
          .split('\n')
          .map((text) => line(text)),
    };
  },
};
