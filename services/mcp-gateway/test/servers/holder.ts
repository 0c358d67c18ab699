// A gateway process for the tests to kill: holds one local server that ignores the end of its input, and prints the server's pid.
import { fileURLToPath } from 'node:url';
import { createTransport } from '../../src/transports.ts';

const ignore = () => undefined;
const { transport } = await createTransport({
  server: {
    name: 'stubborn',
    transport: {
      kind: 'stdio',
      command: process.execPath,
      args: [fileURLToPath(new URL('stubborn.mjs', import.meta.url)), 'alone'],
      env: {},
    },
    protocol: 'legacy',
    startupTimeoutMs: 1_000,
    toolTimeoutMs: 1_000,
    enabledTools: undefined,
    disabledTools: [],
    supportsParallelToolCalls: false,
  },
  env: process.env,
  logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
});
const first = Promise.withResolvers<number>();
Object.assign(transport, {
  onmessage: (message: { params: { pid: number } }) => first.resolve(message.params.pid),
});
await transport.start();
process.stdout.write(`${await first.promise}\n`);
