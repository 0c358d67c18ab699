// model-directory.ts: where the model of a session is and with which key.
// Order: the session's own endpoint, the session's script, the worker's endpoint, the scripted model's default answer.
// The worker's key goes to the worker's endpoint only, never to an endpoint that a session named.
import type { SecretBox } from '@holdfast/config';
import { Failure } from '@holdfast/failures';
import type { ModelSettings } from '@holdfast/protocol';
import type { ModelDirectory } from '../domain/ports.ts';
import { createScriptedModel, type ScriptedModel } from './scripted-model.ts';

export type ModelDirectoryOptions = {
  /** The worker's own endpoint; with only a key it is OpenAI's. */
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  /** What the model name `default` stands for. */
  defaultModel: string;
  /** Opens the keys that sessions carry; without it such sessions are refused. */
  secretBox?: SecretBox | undefined;
};

const openAiUrl = 'https://api.openai.com/v1';
/** Other endpoints answer a request that offers them with an error. */
const openAiTools = ['web_search'];
/** Sent to loopback endpoints that need no key. */
const noKey = 'none';

export function createModelDirectory(options: ModelDirectoryOptions): ModelDirectory {
  const scripted = createScriptedModel();
  return {
    async resolve(sessionId, settings) {
      const name = settings.name === 'default' ? options.defaultModel : settings.name;
      const place =
        toPlace(options, settings) ?? (await toScriptedPlace(scripted, sessionId, settings.script));
      return { name, ...place, hosted: place.baseUrl === openAiUrl ? openAiTools : [] };
    },
    close: () => scripted.close(),
  };
}

type Place = { baseUrl: string; apiKey: string };

function toPlace(options: ModelDirectoryOptions, settings: ModelSettings): Place | undefined {
  const own = toOwnPlace(options);
  const { endpoint, script } = settings;
  if (endpoint) {
    const apiKey =
      openKey(options.secretBox, endpoint.sealedKey) ??
      (endpoint.baseUrl === own?.baseUrl ? own.apiKey : undefined);
    return withKey(endpoint.baseUrl, apiKey);
  }
  if (script !== undefined || !own) return undefined;
  return withKey(own.baseUrl, own.apiKey);
}

function toOwnPlace({
  baseUrl,
  apiKey,
}: ModelDirectoryOptions): { baseUrl: string; apiKey: string | undefined } | undefined {
  if (baseUrl === undefined && apiKey === undefined) return undefined;
  return { baseUrl: baseUrl ?? openAiUrl, apiKey };
}

function withKey(baseUrl: string, apiKey: string | undefined): Place {
  if (apiKey !== undefined) return { baseUrl, apiKey };
  if (isLoopback(baseUrl)) return { baseUrl, apiKey: noKey };
  throw new Failure('model.unauthorized', { detail: `no key is set for ${new URL(baseUrl).host}` });
}

function openKey(box: SecretBox | undefined, sealedKey: string | undefined): string | undefined {
  if (sealedKey === undefined) return undefined;
  try {
    if (box) return box.open(sealedKey);
  } catch {
    // The reason would only say that authentication of the ciphertext failed.
  }
  throw new Failure('model.unauthorized', {
    detail: "the session's key was sealed with another HOLDFAST_SECRET_KEY; start a new session",
  });
}

function isLoopback(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

async function toScriptedPlace(
  scripted: ScriptedModel,
  sessionId: string,
  script: string | undefined,
): Promise<Place> {
  const baseUrl =
    script === undefined ? await scripted.defaultUrl() : await scripted.urlFor(sessionId, script);
  return { baseUrl, apiKey: noKey };
}
