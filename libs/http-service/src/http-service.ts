// http-service.ts: what every HTTP door of Holdfast has in common: zod validation, bearer tokens, failures as JSON, health routes.
import { timingSafeEqual } from 'node:crypto';
import swagger from '@fastify/swagger';
import { Failure, failureTable } from '@holdfast/failures';
import type { Logger } from '@holdfast/telemetry';
import Fastify, { type FastifyError } from 'fastify';
import {
  hasZodFastifySchemaValidationErrors,
  jsonSchemaTransform,
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod';
import { drainBody } from './refused-body.ts';

export type HttpServiceOptions = {
  name: string;
  description: string;
  /** Bearer token for everything but health routes and the OpenAPI document; without one there is nothing but those. */
  token?: string;
  logger: Logger;
  /** Largest JSON body in bytes. */
  bodyLimit: number;
  /** Resolves to undefined when the service can do its work, else to the reason why not. */
  readiness: () => Promise<string | undefined> | string | undefined;
};

const open = new Set(['/livez', '/readyz', '/openapi.json']);

/** Routes are added by the caller; failures thrown in handlers become `{error: {code, message, detail?}}` with the status of the failure table. */
export async function createHttpService(options: HttpServiceOptions) {
  const app = Fastify({
    bodyLimit: options.bodyLimit,
    forceCloseConnections: true,
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  await app.register(swagger, {
    openapi: { info: { title: options.name, description: options.description, version: '1' } },
    transform: jsonSchemaTransform,
  });
  app.addHook('onRequest', async (request) => {
    if (options.token === undefined || open.has(request.routeOptions.url ?? '')) return;
    if (!isAuthorized(request.headers.authorization, options.token)) throw new Failure('auth.missing');
  });
  app.setErrorHandler(async (error: FastifyError | Failure, request, reply) => {
    const failure = toFailure(error);
    if (failure.code === 'input.too-large') await drainBody(request.raw);
    if (failure.code === 'internal.unexpected')
      options.logger.error({ err: error, url: request.url }, 'request failed');
    const { code, message, detail } = failure;
    const body = { error: { code, message, ...(detail === undefined ? {} : { detail }) } };
    return reply.status(failureTable[code].http).send(body);
  });
  app.setNotFoundHandler((request, reply) => {
    const message = `There is no ${request.method} ${request.url} here; /openapi.json lists what there is.`;
    return reply.status(404).send({ error: { code: 'input.invalid', message } });
  });
  app.get('/livez', { schema: { hide: true } }, () => ({ status: 'ok' }));
  app.get('/readyz', { schema: { hide: true } }, async (_request, reply) => {
    const reason = await options.readiness();
    return reply
      .status(reason === undefined ? 200 : 503)
      .send(reason === undefined ? { status: 'ok' } : { status: 'not ready', reason });
  });
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger());
  return app;
}

function isAuthorized(header: string | undefined, token: string): boolean {
  const given = Buffer.from(header ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

function toFailure(error: FastifyError | Failure): Failure {
  if (error instanceof Failure) return error;
  if (hasZodFastifySchemaValidationErrors(error)) {
    const issue = error.validation[0];
    const field = issue?.instancePath.replaceAll('/', '.').replace(/^\./, '') || 'body';
    return new Failure('input.invalid', { detail: `${field}: ${issue?.message}` });
  }
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new Failure('input.too-large');
  if (error.statusCode !== undefined && error.statusCode < 500) {
    return new Failure('input.invalid', { detail: error.message });
  }
  return new Failure('internal.unexpected', { cause: error });
}
