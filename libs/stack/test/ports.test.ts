import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isPortFree, openPortBook } from '../src/ports.ts';
import { scratchFolder } from './fixtures/scratch.ts';

async function occupy(port: number): Promise<number> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

describe('the ports', () => {
  test('are remembered, and no two purposes get the same', async () => {
    const file = join(scratchFolder(), 'ports.json');
    const notices: string[] = [];
    const first = openPortBook({ file, onNotice: (line) => notices.push(line) });
    const chosen = await Promise.all([
      first.choose('temporal'),
      first.choose('nats'),
      first.choose('postgres'),
    ]);
    const second = openPortBook({ file, onNotice: (line) => notices.push(line) });
    const again = await Promise.all([
      second.choose('temporal'),
      second.choose('nats'),
      second.choose('postgres'),
    ]);
    expect(again).toEqual(chosen);
    expect(new Set(chosen).size).toBe(3);
    expect(chosen.every((port) => port >= 20_000 && port < 32_000)).toBe(true);
    expect(notices).toEqual([]);
  });

  test('change when another program took one, and say so', async () => {
    const file = join(scratchFolder(), 'ports.json');
    const notices: string[] = [];
    const port = await openPortBook({ file, onNotice: () => undefined }).choose('nats');
    await occupy(port);
    const book = openPortBook({ file, onNotice: (line) => notices.push(line) });
    const other = await book.choose('nats');
    expect(other).not.toBe(port);
    expect(notices).toEqual([
      `port ${port} of nats is taken by another program; nats uses ${other} from now on`,
    ]);
    expect(await book.choose('nats')).toBe(other);
  });

  test('that are configured are used as they are, or refused', async () => {
    const book = openPortBook({ file: join(scratchFolder(), 'ports.json'), onNotice: () => undefined });
    const taken = await occupy(0);
    const source = 'HOLDFAST_SESSION_API_PORT';
    await expect(book.choose('session-api', { value: String(taken), source })).rejects.toMatchObject({
      code: 'stack.port-occupied',
      message: `Port ${taken} (${source}) is used by another program: stop that program or set ${source} to a free port.`,
    });
    await expect(book.choose('session-api', { value: 'eighty', source })).rejects.toMatchObject({
      code: 'stack.port-occupied',
      message: `${source}=eighty is not a port: set it to a number from 1 to 65535.`,
    });
    const free = await book.choose('other');
    expect(await book.choose('session-api', { value: String(free), source })).toBe(free);
  });

  test('count as taken while something listens on every address', async () => {
    const server = createServer().listen(0, '0.0.0.0');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    expect(await isPortFree(port)).toBe(false);
  });
});
