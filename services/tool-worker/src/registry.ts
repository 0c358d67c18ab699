import type { BlobStore } from '@holdfast/agent-loop';
import type { Tool } from './tool.ts';
import { createApplyPatch } from './tools/apply-patch/apply-patch.ts';
import { createExecCommand, type ExecCommandOptions } from './tools/exec-command/exec-command.ts';
import { withInterceptedPatches } from './tools/exec-command/intercepted-patch.ts';
import { createGrepFiles } from './tools/grep-files/grep-files.ts';
import { createListDir } from './tools/list-dir/list-dir.ts';
import { createReadFile } from './tools/read-file/read-file.ts';
import { createShell } from './tools/shell/shell.ts';
import { createViewImage } from './tools/view-image/view-image.ts';
import { createWriteFile } from './tools/write-file/write-file.ts';
import { createWriteStdin } from './tools/write-stdin/write-stdin.ts';

/** Every tool of a machine, by the name the model calls it. */
export function createRegistry(
  options: ExecCommandOptions & { workspace: string; blobs: Pick<BlobStore, 'putBlob'> },
): ReadonlyMap<string, Tool> {
  const applyPatch = createApplyPatch(options);
  const execCommand = withInterceptedPatches(createExecCommand(options), applyPatch);
  const tools = [
    execCommand,
    createShell(execCommand),
    createWriteStdin(options),
    applyPatch,
    createReadFile(),
    createListDir(),
    createGrepFiles(),
    createWriteFile(options),
    createViewImage(options),
  ];
  return new Map(tools.map((tool) => [tool.spec.name, tool]));
}
