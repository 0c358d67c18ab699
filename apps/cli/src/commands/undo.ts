// undo.ts: puts the files of a workspace back to what they were before a turn.
import type { UndoConflict, UndoResult } from '@holdfast/protocol';
import { connect } from '../connection.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import { note, type Terminal } from '../terminal.ts';

export type UndoRequest = { sessionId: string; turn: number | undefined; force: boolean; json: boolean };

/** Exit code 0 only when files were put back, all of them. The restored paths are the answer, everything else is told on stderr. */
export async function undo(terminal: Terminal, request: UndoRequest): Promise<ExitCode> {
  const { sessionId, turn, force, json } = request;
  const { answer } = await connect(terminal, (first) =>
    first.open(sessionId).undo({ force, ...(turn === undefined ? {} : { turn }) }),
  );
  if (json) terminal.stdout.write(`${JSON.stringify(answer)}\n`);
  else tell(terminal, answer);
  return answer.kind === 'undone' && answer.left.length === 0 ? exitCodes.ok : exitCodes.failed;
}

function tell(terminal: Terminal, result: UndoResult): void {
  switch (result.kind) {
    case 'undone':
      for (const path of result.restored) terminal.stdout.write(`${path}\n`);
      note(terminal, `Restored ${toCount(result.restored.length)} to before turn ${result.ordinal}.`);
      if (result.left.length > 0) note(terminal, 'Not put back:');
      return tellConflicts(terminal, result.left);
    case 'refused':
      note(
        terminal,
        `Nothing was undone: later changes to turn ${result.ordinal} would be lost (--force puts these files back all the same).`,
      );
      return tellConflicts(terminal, result.conflicts);
    case 'nothing':
      return note(terminal, `Nothing was undone: ${result.reason}.`);
  }
}

function tellConflicts(terminal: Terminal, conflicts: readonly UndoConflict[]): void {
  for (const { path, reason } of conflicts) note(terminal, `  ${path}: ${reason}`);
}

function toCount(files: number): string {
  return files === 1 ? '1 path' : `${files} paths`;
}
