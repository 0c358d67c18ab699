// scripted-model.ts: the built-in model, a server on loopback in this process that is started when it is first needed.
import { Failure } from '@holdfast/failures';
import type { ModelServer, Script } from '@holdfast/model-script';

export type ScriptedModel = {
  /** The base URL at which this session's script (JSON text) plays. @throws Failure input.invalid */
  urlFor(sessionId: string, script: string): Promise<string>;
  /** Answers honestly that no model is connected. */
  defaultUrl(): Promise<string>;
  /** Idempotent. */
  close(): Promise<void>;
};

type Running = { server: ModelServer; parse: (json: string, source: string) => Script };

export function createScriptedModel(): ScriptedModel {
  let starting: Promise<Running> | undefined;
  const played = new Map<string, { script: string; url: string }>();
  const start = () => {
    starting ??= startServer().catch((error: unknown) => {
      starting = undefined;
      throw error;
    });
    return starting;
  };
  return {
    async urlFor(sessionId, script) {
      const known = played.get(sessionId);
      if (known?.script === script) return known.url;
      const { server, parse } = await start();
      const url = server.addScript(sessionId, toScript(parse, script));
      played.set(sessionId, { script, url });
      return url;
    },
    defaultUrl: async () => (await start()).server.url,
    close: async () => {
      const running = await starting?.catch(() => undefined);
      await running?.server.close();
    },
  };
}

/** Loaded late: a worker with a real model has no use for it. Requests are not kept, they are whole conversations. */
async function startServer(): Promise<Running> {
  const { parseScript, startModelServer } = await import('@holdfast/model-script');
  return { server: await startModelServer({ maxRequests: 1 }), parse: parseScript };
}

function toScript(parse: Running['parse'], text: string): Script {
  try {
    return parse(text, 'of the session');
  } catch (error) {
    throw new Failure('input.invalid', {
      cause: error,
      detail: error instanceof Error ? error.message : String(error),
    });
  }
}
