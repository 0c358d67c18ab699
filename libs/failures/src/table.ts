// table.ts: every failure Holdfast knows. Classified once, where the foreign error enters; matched by code, never by message.
// The reference page docs/reference/failures.md is generated from this table.

/**
 * transient: Temporal retries. context-overflow: the prompt must shrink first. api-limit: wait visibly, then again.
 * tool-failure: a value the model reads. policy-denied: likewise. machine-offline: the turn parks.
 * fatal: the turn ends with `error`, the session stays usable. usage: the caller asked for something impossible.
 */
export type FailureClass =
  | 'transient'
  | 'context-overflow'
  | 'api-limit'
  | 'tool-failure'
  | 'policy-denied'
  | 'machine-offline'
  | 'fatal'
  | 'usage';

export type FailureRule = {
  class: FailureClass;
  /** Who can change the outcome. */
  actor: 'holdfast' | 'person' | 'model' | 'operator';
  /** What the person reads; the place of the failure is appended when it is known. */
  message: string;
  /** HTTP status where the failure leaves a service. */
  http: number;
};

const table = {
  'model.rate-limited': {
    class: 'api-limit',
    actor: 'holdfast',
    message: 'The model endpoint limits requests; Holdfast waits and asks again.',
    http: 429,
  },
  'model.overloaded': {
    class: 'fatal',
    actor: 'person',
    message: 'The selected model is at capacity; try again later or choose another model with --model.',
    http: 503,
  },
  'model.unavailable': {
    class: 'transient',
    actor: 'holdfast',
    message: 'The model endpoint answered with a server error; Holdfast asks again.',
    http: 503,
  },
  'model.unreachable': {
    class: 'transient',
    actor: 'operator',
    message: 'The model endpoint cannot be reached; check OPENAI_BASE_URL and the network.',
    http: 503,
  },
  'model.connection-failed': {
    class: 'transient',
    actor: 'operator',
    message: 'The model endpoint cannot be connected to; check OPENAI_BASE_URL and its certificate.',
    http: 503,
  },
  'model.stream-cut': {
    class: 'transient',
    actor: 'holdfast',
    message: 'The model stream ended before the reply was complete; Holdfast asks again.',
    http: 503,
  },
  'model.stream-idle': {
    class: 'transient',
    actor: 'holdfast',
    message: 'The model stream was silent for too long; Holdfast asks again.',
    http: 503,
  },
  'model.context-overflow': {
    class: 'context-overflow',
    actor: 'person',
    message:
      "The conversation no longer fits the model's context window; start a new session or choose a model with a larger window.",
    http: 422,
  },
  'model.unauthorized': {
    class: 'fatal',
    actor: 'person',
    message:
      'The model endpoint refused the API key; set OPENAI_API_KEY to a valid key and send the prompt again.',
    http: 401,
  },
  'model.not-found': {
    class: 'fatal',
    actor: 'person',
    message: 'The model endpoint does not know this model; choose one it offers with --model.',
    http: 404,
  },
  'model.quota-exceeded': {
    class: 'fatal',
    actor: 'person',
    message: 'The quota of this API key is used up; raise it with your provider or use another key.',
    http: 402,
  },
  'model.invalid-request': {
    class: 'fatal',
    actor: 'operator',
    message: 'The model endpoint refused the request as invalid.',
    http: 400,
  },
  'model.failed': {
    class: 'fatal',
    actor: 'person',
    message: 'The model could not answer and said that asking again will not help.',
    http: 502,
  },
  'step.retried': {
    class: 'transient',
    actor: 'holdfast',
    message: 'The worker that asked the model was lost; another one asks again.',
    http: 503,
  },
  'store.unavailable': {
    class: 'transient',
    actor: 'operator',
    message: 'The history store cannot be reached; work goes on as soon as it answers.',
    http: 503,
  },
  'store.stale-fence': {
    class: 'fatal',
    actor: 'holdfast',
    message: 'A newer attempt took over; this one may not write any more.',
    http: 409,
  },
  'store.calls-open': {
    class: 'fatal',
    actor: 'holdfast',
    message: 'A step cannot start while calls of the step before have no output.',
    http: 409,
  },
  'session.unknown': {
    class: 'usage',
    actor: 'person',
    message: 'There is no such session; `holdfast sessions` lists them.',
    http: 404,
  },
  'session.closed': {
    class: 'usage',
    actor: 'person',
    message: 'The session is closed; start a new one with `holdfast exec`.',
    http: 409,
  },
  'session.not-running': {
    class: 'usage',
    actor: 'person',
    message: 'No turn is running in this session; send a prompt with `holdfast resume`.',
    http: 409,
  },
  'approval.unknown': {
    class: 'usage',
    actor: 'person',
    message: 'There is no such open approval in this session.',
    http: 404,
  },
  'approval.decided': {
    class: 'usage',
    actor: 'person',
    message: 'This approval was answered already.',
    http: 409,
  },
  'terminal.unknown': {
    class: 'usage',
    actor: 'person',
    message: 'There is no such background terminal in this session; `holdfast ps SESSION` lists them.',
    http: 404,
  },
  'call.unknown': {
    class: 'usage',
    actor: 'operator',
    message: 'There is no such call in this session.',
    http: 404,
  },
  'machine.unknown': {
    class: 'usage',
    actor: 'person',
    message:
      'There is no such machine; `holdfast machines` lists them and `holdfast worker start --name NAME --workspace DIR` adds one.',
    http: 404,
  },
  'machine.lease-held': {
    class: 'usage',
    actor: 'person',
    message:
      'Another tool worker already serves this machine; stop it first or start this one under another --name.',
    http: 409,
  },
  'machine.lease-lost': {
    class: 'fatal',
    actor: 'operator',
    message: 'Another tool worker took this machine over; this one stops.',
    http: 409,
  },
  'machine.offline': {
    class: 'machine-offline',
    actor: 'person',
    message: 'The machine of this session is offline; the turn goes on when its tool worker is back.',
    http: 503,
  },
  'blob.unknown': { class: 'usage', actor: 'person', message: 'There is no such blob.', http: 404 },
  'catalog.unknown': {
    class: 'usage',
    actor: 'operator',
    message: 'There is no such tool catalog.',
    http: 404,
  },
  'input.invalid': {
    class: 'usage',
    actor: 'person',
    message: 'The request is not valid.',
    http: 400,
  },
  'input.too-large': {
    class: 'usage',
    actor: 'person',
    message:
      'The prompt is larger than 1 MiB; put long material into a file of the workspace and name the file.',
    http: 413,
  },
  'auth.missing': {
    class: 'usage',
    actor: 'person',
    message: 'The request carries no valid bearer token.',
    http: 401,
  },
  'tool.outcome-unknown': {
    class: 'tool-failure',
    actor: 'model',
    message: 'It is not known whether this call took effect; look before doing it again.',
    http: 500,
  },
  'tool.broken': {
    class: 'fatal',
    actor: 'operator',
    message:
      'A tool of the machine failed in a way that trying again would not change, so the turn was ended; `holdfast logs` has the details.',
    http: 500,
  },
  'engine.temporal-unavailable': {
    class: 'transient',
    actor: 'operator',
    message: 'Temporal cannot be reached; the input is kept and will be delivered as soon as it answers.',
    http: 503,
  },
  'internal.unexpected': {
    class: 'fatal',
    actor: 'operator',
    message: 'An unexpected error ended the work; `holdfast logs` has the details.',
    http: 500,
  },
} as const satisfies Record<string, FailureRule>;

export type FailureCode = keyof typeof table;

export const failureTable: Readonly<Record<FailureCode, FailureRule>> = table;

export function isFailureCode(value: unknown): value is FailureCode {
  return typeof value === 'string' && Object.hasOwn(table, value);
}
