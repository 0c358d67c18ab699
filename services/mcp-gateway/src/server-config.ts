// server-config.ts: which MCP servers there are. The file has the shape that other MCP clients use, `{"mcpServers": {name: {…}}}`,
// and `${VAR}` or `${VAR:-default}` in any string is replaced from the environment, so that the file needs no secrets.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError, type Env } from '@holdfast/config';
import { z } from 'zod';

export type ProtocolChoice = 'legacy' | 'auto' | '2026-07-28';

export type ServerConfig = {
  name: string;
  transport:
    | { kind: 'stdio'; command: string; args: string[]; env: Record<string, string>; cwd?: string }
    | { kind: 'http'; url: string; headers: Record<string, string> };
  protocol: ProtocolChoice;
  startupTimeoutMs: number;
  toolTimeoutMs: number;
  /** Raw tool names; undefined offers every tool that is not disabled. */
  enabledTools: string[] | undefined;
  disabledTools: string[];
  supportsParallelToolCalls: boolean;
};

const seconds = z.number().positive().max(86_400);
const strings = z.record(z.string(), z.string());
const names = z.array(z.string().min(1));

const entrySchema = z
  .strictObject({
    type: z.enum(['stdio', 'http', 'streamable-http']).optional(),
    command: z.string().min(1).optional(),
    args: z.array(z.string()).optional(),
    env: strings.optional(),
    cwd: z.string().min(1).optional(),
    url: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
    headers: strings.optional(),
    bearerTokenEnvVar: z.string().min(1).optional(),
    protocol: z.enum(['legacy', 'auto', '2026-07-28']).optional(),
    enabled: z.boolean().default(true),
    startupTimeoutSec: seconds.default(30),
    toolTimeoutSec: seconds.default(300),
    enabledTools: names.optional(),
    disabledTools: names.default([]),
    supportsParallelToolCalls: z.boolean().default(false),
  })
  .superRefine((entry, context) => {
    if ((entry.command === undefined) === (entry.url === undefined))
      context.addIssue({
        code: 'custom',
        message: 'give either command (a local server) or url (a server over HTTP)',
      });
    const foreign =
      entry.url === undefined
        ? (['headers', 'bearerTokenEnvVar'] as const)
        : (['args', 'env', 'cwd'] as const);
    for (const key of foreign) {
      if (entry[key] === undefined) continue;
      const message = `${key} has no meaning beside ${entry.url === undefined ? 'command' : 'url'}; remove it`;
      context.addIssue({ code: 'custom', message });
    }
  });

const nameSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'a name must be 1 to 64 characters of A-Z a-z 0-9 _ -');
const fileSchema = z.strictObject({ mcpServers: z.record(nameSchema, entrySchema).default({}) });

/** A missing file, or none named, means no servers. @throws ConfigError with one sentence for every mistake in the file */
export function readServerConfigs(options: { path: string | undefined; env: Env }): ServerConfig[] {
  if (options.path === undefined) return [];
  const text = readText(options.path);
  return text === undefined
    ? []
    : toServerConfigs({
        text,
        source: options.path,
        folder: dirname(resolve(options.path)),
        env: options.env,
      });
}

/** @param options.folder what a relative `cwd` is relative to. @throws ConfigError */
export function toServerConfigs(options: {
  text: string;
  source: string;
  folder: string;
  env: Env;
}): ServerConfig[] {
  const mistakes: string[] = [];
  const value = interpolate(parseJson(options), { env: options.env, path: '', mistakes });
  if (mistakes.length > 0)
    throw new ConfigError(mistakes.map((mistake) => `${options.source}: ${mistake}`).join(' '));
  const parsed = fileSchema.safeParse(value);
  if (!parsed.success) {
    const sentences = parsed.error.issues.map((issue) => `${options.source}: ${toSentence(issue)}`);
    throw new ConfigError(sentences.join(' '));
  }
  return Object.entries(parsed.data.mcpServers).flatMap(([name, entry]) =>
    entry.enabled ? [toServerConfig(name, entry, options)] : [],
  );
}

function toServerConfig(
  name: string,
  entry: z.infer<typeof entrySchema>,
  options: { source: string; folder: string; env: Env },
): ServerConfig {
  return {
    name,
    transport:
      entry.url === undefined
        ? toStdio(entry, options.folder)
        : toHttp(name, { ...entry, url: entry.url }, options),
    protocol: entry.protocol ?? (entry.url === undefined ? 'legacy' : 'auto'),
    startupTimeoutMs: entry.startupTimeoutSec * 1000,
    toolTimeoutMs: entry.toolTimeoutSec * 1000,
    enabledTools: entry.enabledTools,
    disabledTools: entry.disabledTools,
    supportsParallelToolCalls: entry.supportsParallelToolCalls,
  };
}

function toStdio(entry: z.infer<typeof entrySchema>, folder: string): ServerConfig['transport'] {
  return {
    kind: 'stdio',
    command: entry.command ?? '',
    args: entry.args ?? [],
    env: entry.env ?? {},
    ...(entry.cwd === undefined ? {} : { cwd: resolve(folder, entry.cwd) }),
  };
}

function toHttp(
  name: string,
  entry: z.infer<typeof entrySchema> & { url: string },
  options: { source: string; env: Env },
): ServerConfig['transport'] {
  const headers = { ...entry.headers };
  if (entry.bearerTokenEnvVar !== undefined) {
    const token = options.env[entry.bearerTokenEnvVar];
    if (!token)
      throw new ConfigError(
        `${options.source}: mcpServers.${name} takes its token from ${entry.bearerTokenEnvVar}, which is not set; set it and start again.`,
      );
    headers['Authorization'] = `Bearer ${token}`;
  }
  return { kind: 'http', url: entry.url, headers };
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return undefined;
    throw new ConfigError(`The MCP configuration ${path} cannot be read (${code}); make it a readable file.`);
  }
}

function parseJson(options: { text: string; source: string }): unknown {
  try {
    return JSON.parse(options.text);
  } catch (error) {
    throw new ConfigError(
      `${options.source} is not valid JSON: ${error instanceof Error ? error.message : String(error)}.`,
    );
  }
}

type Interpolation = { env: Env; path: string; mistakes: string[] };

function interpolate(value: unknown, at: Interpolation): unknown {
  if (typeof value === 'string') return replaceVariables(value, at);
  if (Array.isArray(value)) return value.map((entry) => interpolate(entry, at));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => {
      const path = at.path === '' ? key : `${at.path}.${key}`;
      return [key, interpolate(entry, { ...at, path })];
    }),
  );
}

function replaceVariables(text: string, at: Interpolation): string {
  return text.replaceAll(
    /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g,
    (_match, name: string, fallback?: string) => {
      const value = at.env[name] || fallback;
      if (value === undefined)
        at.mistakes.push(`${at.path} names the variable ${name}, which is not set; set it and start again.`);
      return value ?? '';
    },
  );
}

function toSentence(issue: z.core.$ZodIssue): string {
  const place = issue.path.join('.') || 'the file';
  if (issue.code === 'unrecognized_keys')
    return `${place} has an unknown key ${issue.keys.join(', ')}; remove it or correct its name.`;
  if (issue.code === 'invalid_key')
    return `${place} is not valid: ${issue.issues[0]?.message ?? issue.message}.`;
  return `${place} is not valid: ${issue.message}.`;
}
