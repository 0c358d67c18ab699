import type { createHttpService } from '@holdfast/http-service';

/** The HTTP service that routes are added to. */
export type App = Awaited<ReturnType<typeof createHttpService>>;
