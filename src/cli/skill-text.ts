/** An agent skill (Markdown with front matter) that teaches an agent to use Waymark instead of raw git. */
export const SKILL = `---
name: waymark
description: Checkpoint and restore the working directory with Waymark. Use before risky changes, at pipeline boundaries, before each fix round, and whenever files may have to go back to an earlier state.
---

# Checkpoints with Waymark

Waymark keeps snapshots of the working directory outside the project. It never touches the project's \`.git\`. Follow this exactly.

## Take a checkpoint

\`\`\`sh
waymark checkpoints create --reason pre-design-gate --source build
\`\`\`

It prints the id. \`--reason\` says why, \`--source\` who asks. Reasons in use:

- build: \`pre-design-gate\`, \`pre-plan-gate\`, \`pre-wave-N\`, \`pre-cleanup-task-N\`, \`pre-temper\`, \`pre-inquisitor\`, \`pre-impl-gate\`
- quality-gate: \`pre-qg-fix-round-N\`
- debugging: \`pre-debug-fix-cycle-N\`, \`pre-where-else\`, \`pre-debug-gate\`

Any other short reason without \`|\` will do. Status 5 means that something in scope could not be stored: read the message, it names the paths.
If it says \`checkpoints disabled for performance\`, go on without checkpoints and tell the user once.

## Look

\`\`\`sh
waymark checkpoints list            # newest first; also after a restart or a compacted conversation: nothing else is needed
waymark checkpoints diff ID         # what changed since
waymark checkpoints diff ID --patch
\`\`\`

## Go back

Restoring is the user's decision. Show what it would do, ask, and only then do it:

\`\`\`sh
waymark checkpoints restore ID --dry-run
waymark checkpoints restore ID --yes              # only after the user said yes
waymark checkpoints restore ID --yes -- path/to/file
\`\`\`

It first takes a safety checkpoint and prints its id; \`waymark undo\` takes the restore back. Afterwards run the project's tests and report. Status 5 means that
some paths were left alone: report them with their reasons.

## Parallel agents

Take the checkpoint before the agents start and hold the wave while they write:

\`\`\`sh
waymark checkpoints create --reason pre-wave-3 --source build
waymark wave --label wave-3 -- ./run-the-agents
\`\`\`

## Red flags

- **Never** modify the project's \`.git\` directory, and never use \`git stash\`, \`git reset\`, \`git checkout\` or \`git clean\` to get back to an earlier state. Use Waymark.
- **Never** run git commands against Waymark's store. Its shadow repositories are addressed by Waymark alone.
- **Never** take a checkpoint in the middle of a wave. Wait for all parallel agents; Waymark refuses anyway and says who holds the wave.
- **Never** restore without the user's confirmation. A restore is an option to present, not an action to take.
- **Never** delete a store (\`waymark store remove\`) or prune it unless the user asked for exactly that.
`;
