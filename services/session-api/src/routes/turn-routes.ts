import { approvalSchema } from '@holdfast/store-client';
import {
  answerApproval,
  interruptTurn,
  refreshTools,
  submitInput,
  type SessionDeps,
} from '../domain/sessions.ts';
import {
  approvalParams,
  decisionSchema,
  deliverySchema,
  endedTurnSchema,
  failures,
  inputReceiptSchema,
  interruptSchema,
  newInputSchema,
  sessionParams,
} from '../public-schemas.ts';
import type { App } from './app.ts';

/** What people say to a session: prompts, steers, interrupts, answers. */
export function addTurnRoutes(app: App, deps: SessionDeps): void {
  app.post(
    '/v1/sessions/:sessionId/inputs',
    {
      schema: {
        summary: 'Send a prompt, or steer the running turn',
        description:
          'The input is kept before the answer. `delivered: false` says that Temporal cannot be reached now; the input is delivered when it can.',
        params: sessionParams,
        body: newInputSchema,
        response: { 202: inputReceiptSchema, ...failures },
      },
    },
    async (request, reply) => {
      const { sessionId } = request.params;
      return reply.status(202).send(await submitInput(deps, { sessionId, input: request.body }));
    },
  );
  app.post(
    '/v1/sessions/:sessionId/interrupt',
    {
      schema: {
        summary: 'End the named turn now, by default the running one',
        params: sessionParams,
        body: interruptSchema,
        response: { 200: endedTurnSchema, ...failures },
      },
    },
    (request) => interruptTurn(deps, { ...request.params, ...request.body }),
  );
  app.post(
    '/v1/sessions/:sessionId/approvals/:approvalId',
    {
      schema: {
        summary: 'Answer an approval',
        params: approvalParams,
        body: decisionSchema,
        response: { 200: approvalSchema, ...failures },
      },
    },
    (request) => answerApproval(deps, { ...request.params, decision: request.body.decision }),
  );
  app.post(
    '/v1/sessions/:sessionId/refresh-tools',
    {
      schema: {
        summary: 'Let the next step see the tools that are offered then',
        params: sessionParams,
        response: { 202: deliverySchema, ...failures },
      },
    },
    async (request, reply) => reply.status(202).send(await refreshTools(deps, request.params)),
  );
}
