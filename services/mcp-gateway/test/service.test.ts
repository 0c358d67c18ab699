import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMcpGateway } from '@holdfast/mcp-gateway';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findPort } from './gateways.ts';

describe('the gateway service', () => {
  test('comes up and stops again while everything it needs is away', async () => {
    const port = await findPort();
    const gone = `127.0.0.1:${await findPort()}`;
    const service = await startMcpGateway({
      TEMPORAL_ADDRESS: gone,
      NATS_URL: `nats://${gone}`,
      HOLDFAST_STORE_URL: `http://${gone}`,
      HOLDFAST_INTERNAL_TOKEN: 'a token of some length',
      HOLDFAST_LOG_LEVEL: 'silent',
      HOLDFAST_MCP_GATEWAY_HEALTH_PORT: String(port),
    });
    onTestFinished(() => service.stop());
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect([ready.status, (await fetch(`http://127.0.0.1:${port}/livez`)).status]).toEqual([503, 200]);
    await service.stop();
    await expect(fetch(`http://127.0.0.1:${port}/livez`)).rejects.toThrow('fetch failed');
  });

  test('refuses a configuration that it cannot read, before it starts anything', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mcp-service-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'mcp.json');
    writeFileSync(path, '{"mcpServers": {"docs": {}}}');
    const start = startMcpGateway({
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      NATS_URL: 'nats://127.0.0.1:1',
      HOLDFAST_STORE_URL: 'http://127.0.0.1:1',
      HOLDFAST_INTERNAL_TOKEN: 'a token of some length',
      HOLDFAST_LOG_LEVEL: 'silent',
      HOLDFAST_MCP_CONFIG: path,
    });
    await expect(start).rejects.toMatchObject({
      name: 'ConfigError',
      message: `${path}: mcpServers.docs is not valid: give either command (a local server) or url (a server over HTTP).`,
    });
  });
});
