import { sessionSchema } from '@holdfast/store-client';
import { z } from 'zod';
import { closeSession, createSession, toPublicSession, type SessionDeps } from '../domain/sessions.ts';
import {
  createdSessionSchema,
  failures,
  listQuery,
  newSessionSchema,
  sessionParams,
} from '../public-schemas.ts';
import type { App } from './app.ts';

/** Sessions as a whole: create, list, read, close. */
export function addSessionRoutes(app: App, deps: SessionDeps): void {
  const { store } = deps;
  app.post(
    '/v1/sessions',
    {
      schema: {
        summary: 'Create a session and, with an input, start its first turn',
        body: newSessionSchema,
        response: { 201: createdSessionSchema, ...failures },
      },
    },
    async (request, reply) => reply.status(201).send(await createSession(deps, request.body)),
  );
  app.get(
    '/v1/sessions',
    {
      schema: {
        summary: 'List sessions, newest activity first',
        querystring: listQuery,
        response: { 200: z.array(sessionSchema), ...failures },
      },
    },
    (request) => store.listSessions(request.query).then((sessions) => sessions.map(toPublicSession)),
  );
  app.get(
    '/v1/sessions/:sessionId',
    {
      schema: {
        summary: 'Read a session',
        params: sessionParams,
        response: { 200: sessionSchema, ...failures },
      },
    },
    (request) => store.readSession(request.params).then(toPublicSession),
  );
  app.post(
    '/v1/sessions/:sessionId/close',
    {
      schema: {
        summary: 'End the running turn and take no more input',
        params: sessionParams,
        response: { 200: sessionSchema, ...failures },
      },
    },
    (request) => closeSession(deps, request.params),
  );
}
