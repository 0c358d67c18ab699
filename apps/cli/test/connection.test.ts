import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Machine } from '@holdfast/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../src/connection.ts';
import { createTestTerminal } from './test-terminal.ts';

function toMachine(name: string, more: Partial<Machine> = {}): Machine {
  return {
    machineId: `id-${name}`,
    kind: 'machine',
    name,
    bootId: 'b',
    online: true,
    lastSeenAt: '2026-05-04T10:00:00.000Z',
    capabilities: { platform: 'linux', arch: 'x64', hostname: 'h', workspace: '/w', protocol: 1 },
    tools: [],
    ...more,
  };
}

const machines = [
  toMachine('local'),
  toMachine('gpu-1', { online: false }),
  toMachine('mcp', { kind: 'gateway' }),
];

describe('connecting', () => {
  let server: Server;
  let url = '';
  let folder = '';
  const tokens: (string | undefined)[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      tokens.push(request.headers.authorization);
      response.setHeader('content-type', 'application/json').end(JSON.stringify(machines));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
    folder = await mkdtemp(join(tmpdir(), 'holdfast-connection-'));
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  });

  test('uses the running stack with one request', async () => {
    await writeFile(join(folder, 'stack.json'), JSON.stringify({ sessionApiUrl: url }));
    await writeFile(join(folder, 'secrets.json'), '{"apiToken": "stack-token"}');
    const terminal = createTestTerminal({ env: { HOLDFAST_STATE_DIR: folder } });
    const connection = await connect(terminal, (client) => client.listMachines());
    expect({ machines: connection.answer, tokens: tokens.splice(0) }).toEqual({
      machines,
      tokens: ['Bearer stack-token'],
    });
    expect(terminal.text.stderr).toBe('');
  });

  test('uses an installation elsewhere when one is configured', async () => {
    const env = { HOLDFAST_STATE_DIR: folder, HOLDFAST_API_URL: url, HOLDFAST_API_TOKEN: 'far' };
    await connect(createTestTerminal({ env }), (client) => client.listMachines());
    expect(tokens.splice(0)).toEqual(['Bearer far']);
  });

  test('says which half of the configuration is missing', async () => {
    await expect(
      connect(createTestTerminal({ env: { HOLDFAST_API_URL: url } }), (client) => client.listMachines()),
    ).rejects.toMatchObject({
      exitCode: 2,
      message: 'HOLDFAST_API_URL is set but HOLDFAST_API_TOKEN is not; set both.',
    });
  });
});
