// new-session.ts: what a new session starts with: its settings, its title and what the model is told about the machine.
import { randomUUID } from 'node:crypto';
import type { NewSession } from '@holdfast/agent-loop';
import type { SecretBox } from '@holdfast/config';
import { Failure } from '@holdfast/failures';
import { toUserMessage, type Item, type Machine, type ModelSettings } from '@holdfast/protocol';
import type { NewSessionRequest } from '../public-schemas.ts';

const titleLength = 80;
const untitled = 'Untitled session';

/** The caller's model key leaves this function sealed or not at all. @throws Failure input.invalid */
export function toNewSession(
  request: NewSessionRequest,
  options: { machine: Machine; secrets: SecretBox; now: Date },
): NewSession {
  const { machine, secrets, now } = options;
  const { settings } = request;
  const cwd = settings.cwd ?? machine.capabilities.workspace;
  return {
    sessionId: request.sessionId ?? randomUUID(),
    title: request.input ? toTitle(request.input.text) : untitled,
    settings: {
      cwd,
      machineId: machine.machineId,
      model: toModelSettings(settings.model, secrets),
      approvalPolicy: settings.approvalPolicy ?? 'never',
    },
    context: [toEnvironmentContext({ cwd, machine, now })],
  };
}

/** The first line with text, cut by characters as people count them. */
function toTitle(prompt: string): string {
  const line = prompt.split('\n', 1_000).find((candidate) => candidate.trim() !== '');
  const characters = Array.from((line ?? '').trim().slice(0, titleLength * 4));
  if (characters.length === 0) return untitled;
  if (characters.length <= titleLength) return characters.join('');
  return `${characters.slice(0, titleLength - 1).join('')}…`;
}

function toModelSettings(model: NewSessionRequest['settings']['model'], secrets: SecretBox): ModelSettings {
  const { name, baseUrl, apiKey, script, tools, outputStyle } = model;
  if (apiKey !== undefined && baseUrl === undefined) {
    const detail =
      'settings.model.apiKey needs settings.model.baseUrl, so that the key goes to no other endpoint';
    throw new Failure('input.invalid', { detail });
  }
  const sealedKey = apiKey === undefined ? {} : { sealedKey: secrets.seal(apiKey) };
  return {
    name,
    ...(baseUrl === undefined ? {} : { endpoint: { baseUrl, ...sealedKey } }),
    ...(script === undefined ? {} : { script }),
    ...(tools === undefined ? {} : { tools }),
    ...(outputStyle === undefined ? {} : { outputStyle }),
  };
}

/** One line a fact, as the model knows it from Codex. Date and time zone are those of this service. */
function toEnvironmentContext({ cwd, machine, now }: { cwd: string; machine: Machine; now: Date }): Item {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const shell = machine.capabilities.platform === 'win32' ? 'powershell' : 'bash';
  const facts = { cwd, shell, current_date: toDate(now, timeZone), timezone: timeZone };
  const lines = Object.entries(facts).map(([name, value]) => `  <${name}>${toXmlText(value)}</${name}>`);
  return toUserMessage(['<environment_context>', ...lines, '</environment_context>'].join('\n'));
}

function toDate(now: Date, timeZone: string): string {
  return now.toLocaleDateString('sv-SE', { timeZone });
}

function toXmlText(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
