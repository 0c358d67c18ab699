import type { ToolSpec } from '@holdfast/protocol';
import { applyPatchSpec } from './tools/apply-patch/spec.ts';
import { execCommandSpec } from './tools/exec-command/spec.ts';
import { grepFilesTool } from './tools/grep-files/spec.ts';
import { listDirTool } from './tools/list-dir/spec.ts';
import { readFileTool } from './tools/read-file/spec.ts';
import { shellTool } from './tools/shell/spec.ts';
import { viewImageTool } from './tools/view-image/spec.ts';
import { writeFileTool } from './tools/write-file/spec.ts';
import { writeStdinSpec } from './tools/write-stdin/spec.ts';

/** What every machine offers, for those who describe it without running one; equal to the specs of the registry. */
export const toolSpecs: readonly ToolSpec[] = [
  execCommandSpec,
  writeStdinSpec,
  applyPatchSpec,
  viewImageTool.spec,
  readFileTool.spec,
  listDirTool.spec,
  grepFilesTool.spec,
  writeFileTool.spec,
  shellTool.spec,
];
