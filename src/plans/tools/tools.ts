import type { ToolStep } from '../document/plan-document.ts';
import { agent } from './agent.ts';
import { applyPatch } from './apply-patch.ts';
import { deleteFile } from './delete-file.ts';
import { editFile } from './edit-file.ts';
import { shell } from './shell.ts';
import type { Tool } from './tool.ts';
import { writeFile } from './write-file.ts';

/** Finds the tool that does a step. */
export type ToolFor = (step: ToolStep) => Tool;

const TOOLS: { readonly [Name in ToolStep['tool']]: Tool<Extract<ToolStep, { tool: Name }>> } = {
  write_file: writeFile,
  edit_file: editFile,
  delete_file: deleteFile,
  apply_patch: applyPatch,
  shell,
  agent,
};

/** The six tools that a plan file may name. */
export const builtInTools: ToolFor = (step) => TOOLS[step.tool] as unknown as Tool;
