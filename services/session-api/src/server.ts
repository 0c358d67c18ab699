import type { EventBus } from '@holdfast/events';
import { createHttpService } from '@holdfast/http-service';
import type { Logger } from '@holdfast/telemetry';
import type { SessionDeps } from './domain/sessions.ts';
import type { ViewerLimits } from './event-viewer.ts';
import type { App } from './routes/app.ts';
import { addRecordRoutes } from './routes/record-routes.ts';
import { addSessionRoutes } from './routes/session-routes.ts';
import { addStreamRoute, type StreamPace } from './routes/stream-route.ts';
import { addTerminalRoutes } from './routes/terminal-routes.ts';
import { addTurnRoutes } from './routes/turn-routes.ts';
import { addUndoRoute } from './routes/undo-route.ts';

/** JSON escapes may make a prompt of 1 MiB six times as long. */
const bodyLimitBytes = 8 * 1_048_576;

export type SessionServerOptions = SessionDeps & {
  bus: Pick<EventBus, 'connected' | 'publishCancel' | 'askMachine' | 'subscribeEvents' | 'subscribeDeltas'>;
  token: string;
  logger: Logger;
  readiness: () => Promise<string | undefined>;
  pace?: StreamPace;
  viewerLimits?: ViewerLimits;
};

/** The public door, not listening yet. What the store answers is trusted; the response schemas describe it. */
export async function createSessionServer(options: SessionServerOptions): Promise<App> {
  const { token, logger, readiness, store, bus, pace, viewerLimits } = options;
  const app = await createHttpService({
    name: 'Holdfast session API',
    description:
      'Sessions, turns, approvals and events of Holdfast. Requests repeat safely with the same ids.',
    token,
    logger,
    bodyLimit: bodyLimitBytes,
    readiness,
  });
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
  addSessionRoutes(app, options);
  addTurnRoutes(app, options);
  addRecordRoutes(app, store);
  addTerminalRoutes(app, options);
  addUndoRoute(app, options);
  addStreamRoute(app, {
    store,
    bus,
    ...(pace ? { pace } : {}),
    ...(viewerLimits ? { viewerLimits } : {}),
  });
  return app;
}
