// api-error.ts: HTTP errors in the shape of the OpenAI API.

export type ApiError = {
  status: number;
  code: string;
  message: string;
  retryAfterSeconds?: number | undefined;
};

const defaults: Readonly<Record<number, { code: string; message: string }>> = {
  400: { code: 'invalid_request', message: 'The request is invalid.' },
  401: { code: 'invalid_api_key', message: 'The API key is not valid.' },
  403: { code: 'forbidden', message: 'The API key may not do this.' },
  404: { code: 'model_not_found', message: 'The model does not exist.' },
  429: { code: 'rate_limit_exceeded', message: 'Too many requests; try again later.' },
  503: { code: 'server_is_overloaded', message: 'The server is overloaded; try again later.' },
};
const serverError = {
  code: 'server_error',
  message: 'The server had an error while it processed the request.',
};

/** Fills in what a scripted HTTP failure leaves out. */
export function toApiError(failure: {
  status: number;
  code?: string | undefined;
  message?: string | undefined;
  retryAfterSeconds?: number | undefined;
}): ApiError {
  const usual = defaults[failure.status] ?? serverError;
  const { status, code = usual.code, message = usual.message, retryAfterSeconds } = failure;
  return { status, code, message, retryAfterSeconds };
}

/** The JSON body; `type` follows from the status as in the API. */
export function toErrorBody(error: ApiError): string {
  const { status, code, message } = error;
  return JSON.stringify({ error: { message, type: toErrorType(status, code), param: null, code } });
}

function toErrorType(status: number, code: string): string {
  if (code === 'insufficient_quota') return code;
  if (status === 429) return 'requests';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
