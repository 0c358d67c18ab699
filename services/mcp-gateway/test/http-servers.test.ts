import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callTool, everythingServer, findPort, startGateway, toAnswer } from './gateways.ts';
import { startHttpServer } from './servers/http.ts';

/** Resolves when the server listens. */
async function startEverything(port: number): Promise<{ url: string; kill(): Promise<void> }> {
  const child = spawn(process.execPath, [everythingServer, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(kill);
  await once(child.stderr, 'data');
  return { url: `http://127.0.0.1:${port}/mcp`, kill };
}

describe('a gateway over HTTP servers of the current protocol', () => {
  test('hands on progress and result', async () => {
    const { url } = await startHttpServer();
    const gateway = await startGateway({ test: { url } });
    expect(await callTool(gateway, 'mcp__test__count_notes')).toEqual({
      outcome: toAnswer('two notes'),
      notes: [
        { progress: 1, total: 2, message: 'first' },
        { progress: 2, total: 2, message: 'second' },
      ],
    });
  });

  test('fails a call at once when the server goes in the middle of it, and finds the server again', async () => {
    const server = await startHttpServer();
    const gateway = await startGateway({ test: { url: server.url } });
    const { outcome } = await callTool(gateway, 'mcp__test__wait', { onProgress: () => void server.kill() });
    expect(outcome.kind).toBe('lost');
    await startHttpServer({ port: Number(new URL(server.url).port) });
    const again = await callTool(gateway, 'mcp__test__repeat', { arguments: { word: 'ab', times: 2 } });
    expect(again.outcome).toEqual(toAnswer('abab'));
  });

  test('publishes a tool that a server adds later', async () => {
    const server = await startHttpServer();
    const gateway = await startGateway({ test: { url: server.url } });
    server.grow();
    await gateway.waitFor((catalog) => catalog.tools.some((tool) => tool.name === 'mcp__test__grown'));
    expect((await callTool(gateway, 'mcp__test__grown')).outcome).toEqual(toAnswer('grown'));
  });

  test('says that a server needs an answer of a person', async () => {
    const { url } = await startHttpServer();
    const gateway = await startGateway({ test: { url } });
    const { outcome } = await callTool(gateway, 'mcp__test__ask_for_input');
    expect(outcome).toEqual({ kind: 'needs-client', request: 'elicitation' });
  });

  test('sends the token of the configuration, and says when it is missing', async () => {
    const { url } = await startHttpServer({ authorization: 'Bearer open sesame' });
    const headers = { Authorization: 'Bearer open sesame' };
    const gateway = await startGateway({ guarded: { url, headers }, refused: { url } });
    const { outcome } = await callTool(gateway, 'mcp__guarded__repeat', {
      arguments: { word: 'x', times: 1 },
    });
    expect(outcome).toEqual(toAnswer('x'));
    expect(gateway.find('mcp__refused__repeat')).toEqual({
      kind: 'server-away',
      server: 'refused',
      reason:
        'it asks for a sign-in (HTTP 401); give it a token with bearerTokenEnvVar or headers in the MCP configuration',
    });
  });

  test('says that a server cannot be reached', async () => {
    const gateway = await startGateway({ gone: { url: `http://127.0.0.1:${await findPort()}/mcp` } });
    expect(gateway.find('mcp__gone__any')).toEqual({
      kind: 'server-away',
      server: 'gone',
      reason: 'it cannot be reached (ECONNREFUSED)',
    });
  });
});

describe('a gateway over HTTP servers of the older protocol', () => {
  test('hands on progress and result', async () => {
    const { url } = await startEverything(await findPort());
    const gateway = await startGateway({ everything: { url } });
    const { outcome, notes } = await callTool(gateway, 'mcp__everything__trigger_long_running_operation', {
      arguments: { duration: 0.02, steps: 2 },
    });
    expect(outcome).toEqual(toAnswer('Long running operation completed. Duration: 0.02 seconds, Steps: 2.'));
    expect(notes).toEqual([
      { progress: 1, total: 2 },
      { progress: 2, total: 2 },
    ]);
  });

  test('finds a server again that was killed and started between two calls', async () => {
    const server = await startEverything(await findPort());
    const gateway = await startGateway({ everything: { url: server.url } });
    await server.kill();
    await startEverything(Number(new URL(server.url).port));
    const { outcome } = await callTool(gateway, 'mcp__everything__echo', { arguments: { message: 'here' } });
    expect(outcome).toEqual(toAnswer('Echo: here'));
  });
});
