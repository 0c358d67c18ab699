import type { Logger } from '@holdfast/telemetry';
import { createHttpService } from './http-service.ts';

export type HealthServerOptions = {
  service: string;
  port: number;
  logger: Logger;
  readiness: () => Promise<string | undefined> | string | undefined;
};

/** `/livez` and `/readyz` for services without another HTTP door, on loopback unless told otherwise. */
export async function startHealthServer(
  options: HealthServerOptions & { host?: string },
): Promise<{ port: number; close(): Promise<void> }> {
  const { service, logger, readiness } = options;
  const app = await createHttpService({
    name: service,
    description: 'Health',
    logger,
    bodyLimit: 1024,
    readiness,
  });
  await app.listen({ host: options.host ?? '127.0.0.1', port: options.port });
  const address = app.server.address();
  return {
    port: typeof address === 'object' && address ? address.port : options.port,
    close: () => app.close(),
  };
}
