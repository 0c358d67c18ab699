import { z } from 'zod';
import { askSessionMachine, type SessionMachineDeps } from '../domain/session-machine.ts';
import { failures, sessionParams, undoResultSchema } from '../public-schemas.ts';
import type { App } from './app.ts';

const undoBody = z.object({
  turn: z.int().min(1).exactOptional().describe('Counted from 1; default the last turn that changed files'),
  force: z.boolean().default(false).describe('Also where somebody else changed a file later'),
});

/** Files go back to what they were before a turn; what was said stays. */
export function addUndoRoute(app: App, deps: SessionMachineDeps): void {
  app.post(
    '/v1/sessions/:sessionId/undo',
    {
      schema: {
        summary: 'Restore the files that a turn, and those after it, changed',
        params: sessionParams,
        body: undoBody,
        response: { 200: undoResultSchema, ...failures },
      },
    },
    ({ params: { sessionId }, body: { turn, force } }) =>
      askSessionMachine(deps, {
        op: 'undo',
        sessionId,
        force,
        ...(turn === undefined ? {} : { ordinal: turn }),
      }),
  );
}
