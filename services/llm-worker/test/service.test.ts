// The process: what it does while everything around it is away, and how it ends.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { startLlmWorker } from '../src/index.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

async function toFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Everything that the worker needs is at an address where nobody listens. */
async function toEnvironment(): Promise<Record<string, string>> {
  const away = `127.0.0.1:${await toFreePort()}`;
  return {
    TEMPORAL_ADDRESS: away,
    NATS_URL: `nats://${away}`,
    HOLDFAST_STORE_URL: `http://${away}`,
    HOLDFAST_INTERNAL_TOKEN: 'internal-token-of-the-test',
    HOLDFAST_SECRET_KEY: 'secret-key-of-the-test',
    HOLDFAST_LLM_WORKER_HEALTH_PORT: String(await toFreePort()),
    OPENAI_API_KEY: 'sk-key-of-the-worker',
  };
}

describe('the LLM worker', () => {
  test('comes up while Temporal, NATS and the store are away, says so, and stops', async () => {
    const env = await toEnvironment();
    const service = await startLlmWorker({ ...env, HOLDFAST_LOG_LEVEL: 'silent' });
    const base = `http://127.0.0.1:${env['HOLDFAST_LLM_WORKER_HEALTH_PORT']}`;
    expect((await fetch(`${base}/livez`)).status).toBe(200);
    const ready = await fetch(`${base}/readyz`);
    expect({ status: ready.status, body: await ready.json() }).toEqual({
      status: 503,
      body: { status: 'not ready', reason: 'not polling Temporal yet' },
    });
    await service.stop();
    await service.stop();
  });

  test('logs JSON lines without any of its keys, and ends when its supervisor is gone', async () => {
    const env = { ...(await toEnvironment()), HOLDFAST_PARENT_PIPE: '1' };
    const child = spawn(process.execPath, [main], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    const [first] = (await once(child.stdout, 'data')) as [Buffer];
    child.stdin.end();
    const ended = once(child, 'exit');
    const logged = first.toString() + (await text(child.stdout));
    expect(await ended).toEqual([0, null]);
    const lines = logged
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { service: string; msg: string });
    expect(lines[0]).toMatchObject({ service: 'llm-worker', msg: 'starting' });
    for (const secret of ['sk-key-of-the-worker', 'secret-key-of-the-test', 'internal-token-of-the-test']) {
      expect(logged).not.toContain(secret);
    }
  });

  test('names the variable that is wrong in one sentence and exits 2', async () => {
    const env = { ...(await toEnvironment()), HOLDFAST_LLM_STREAM_IDLE_MS: '900000' };
    const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [stderr, stdout, [code]] = await Promise.all([
      text(child.stderr),
      text(child.stdout),
      once(child, 'exit'),
    ]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^llm-worker: HOLDFAST_LLM_STREAM_IDLE_MS is not valid: .+\n$/);
  });
});
