import { z } from 'zod';
import type { SessionMachineDeps } from '../domain/session-machine.ts';
import { cleanTerminals, killTerminal, listTerminals } from '../domain/terminals.ts';
import { failures, sessionParams, terminalParams, terminalSchema } from '../public-schemas.ts';
import type { App } from './app.ts';

/** Commands that went on in the background of a session. */
export function addTerminalRoutes(app: App, deps: SessionMachineDeps): void {
  app.get(
    '/v1/sessions/:sessionId/terminals',
    {
      schema: {
        summary: 'List the background terminals of a session',
        params: sessionParams,
        response: { 200: z.array(terminalSchema), ...failures },
      },
    },
    (request) => listTerminals(deps, request.params),
  );
  app.post(
    '/v1/sessions/:sessionId/terminals/:terminalId/kill',
    {
      schema: {
        summary: 'End one background terminal with everything it started',
        params: terminalParams,
        response: { 200: terminalSchema, ...failures },
      },
    },
    ({ params: { sessionId, terminalId: id } }) => killTerminal(deps, { sessionId, id }),
  );
  app.post(
    '/v1/sessions/:sessionId/terminals/clean',
    {
      schema: {
        summary: 'End every background terminal of a session',
        params: sessionParams,
        response: { 200: z.array(terminalSchema), ...failures },
      },
    },
    (request) => cleanTerminals(deps, request.params),
  );
}
