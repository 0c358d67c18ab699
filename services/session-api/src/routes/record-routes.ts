import {
  approvalSchema,
  machineSchema,
  sessionEventSchema,
  storedItemSchema,
  turnSchema,
} from '@holdfast/store-client';
import { z } from 'zod';
import type { SessionStore } from '../ports/session-store.ts';
import { approvalParams, blobParams, failures, pageQuery, sessionParams } from '../public-schemas.ts';
import type { App } from './app.ts';

/** What is recorded: turns, items, events, blobs, and the machines there are. */
export function addRecordRoutes(app: App, store: SessionStore): void {
  app.get(
    '/v1/sessions/:sessionId/turns',
    {
      schema: {
        summary: 'List the turns of a session',
        params: sessionParams,
        response: { 200: z.array(turnSchema), ...failures },
      },
    },
    (request) => store.listTurns(request.params),
  );
  app.get(
    '/v1/sessions/:sessionId/items',
    {
      schema: {
        summary: 'Read what the model sees, in order',
        params: sessionParams,
        querystring: pageQuery,
        response: { 200: z.array(storedItemSchema), ...failures },
      },
    },
    (request) => store.readItems({ ...request.params, ...request.query }),
  );
  app.get(
    '/v1/sessions/:sessionId/events',
    {
      schema: {
        summary: 'Read what happened, in order',
        params: sessionParams,
        querystring: pageQuery,
        response: { 200: z.array(sessionEventSchema), ...failures },
      },
    },
    (request) => store.readEvents({ ...request.params, ...request.query }),
  );
  app.get(
    '/v1/sessions/:sessionId/approvals/:approvalId',
    {
      schema: {
        summary: 'Read an approval: what was asked, and what was answered',
        params: approvalParams,
        response: { 200: approvalSchema, ...failures },
      },
    },
    (request) => store.readApproval(request.params),
  );
  app.get(
    '/v1/machines',
    {
      schema: {
        summary: 'List machines and gateways',
        response: { 200: z.array(machineSchema), ...failures },
      },
    },
    () => store.listMachines(),
  );
  addBlobRoute(app, store);
}

function addBlobRoute(app: App, store: SessionStore): void {
  app.get(
    '/v1/blobs/:digest',
    {
      schema: {
        summary: 'Read a large output as it was recorded',
        params: blobParams,
        response: { 200: z.any().describe('The bytes, with their own media type'), ...failures },
      },
    },
    async (request, reply) => {
      const { bytes, mediaType } = await store.readBlob(request.params);
      return reply
        .headers({
          'content-type': mediaType,
          'content-disposition': 'attachment',
          'x-content-type-options': 'nosniff',
        })
        .send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    },
  );
}
