import type { Logger } from '@holdfast/telemetry';
import type { Transport } from '@modelcontextprotocol/client';
import { findExecutable } from './executables.ts';
import { HttpTransport } from './http-transport.ts';
import { ProcessTransport } from './process-transport.ts';
import type { ServerConfig } from './server-config.ts';
import { NotConnected } from './trouble.ts';

export type TransportOptions = {
  server: ServerConfig;
  env: Readonly<Record<string, string | undefined>>;
  logger: Logger;
};

/** What a local server gets of this process's environment: where things are and who the user is, no secrets. */
const inheritedVariables = ['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER'];

/** @throws NotConnected when there is no such program */
export async function createTransport(
  options: TransportOptions,
): Promise<{ transport: Transport; endReason: () => string | undefined }> {
  const { transport: wanted } = options.server;
  if (wanted.kind === 'http') {
    const transport = new HttpTransport(new URL(wanted.url), { requestInit: { headers: wanted.headers } });
    return { transport, endReason: () => undefined };
  }
  const transport = await createProcessTransport(options, wanted);
  return { transport, endReason: () => transport.endReason };
}

async function createProcessTransport(
  options: TransportOptions,
  wanted: ServerConfig['transport'] & { kind: 'stdio' },
): Promise<ProcessTransport> {
  const { logger, server } = options;
  const env = { ...toInherited(options.env), ...wanted.env };
  const path = env['PATH'] ?? '';
  const cwd = wanted.cwd === undefined ? {} : { cwd: wanted.cwd };
  const program = await findExecutable({ command: wanted.command, path, ...cwd });
  if (program === undefined) throw new NotConnected(`there is no program ${wanted.command}`);
  return new ProcessTransport({
    command: [...(await findDeathSignal(path)), program, ...wanted.args] as [string, ...string[]],
    env,
    ...cwd,
    onLogLine: (line) => logger.debug({ server: server.name, line }, 'MCP server wrote to stderr'),
  });
}

/** The kernel kills the server when the thread that started it ends; where `setpriv` is missing the end of its input must do. */
async function findDeathSignal(path: string): Promise<string[]> {
  const setpriv = await findExecutable({ command: 'setpriv', path });
  return setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--'];
}

function toInherited(env: TransportOptions['env']): Record<string, string> {
  return Object.fromEntries(
    inheritedVariables.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
