import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { HostConnection } from '../../src/process-host/connection.ts';
import { interactOver } from '../../src/process-host/interaction.ts';
import { readJsonLines } from '../../src/process-host/json-lines.ts';
import type { HostRequest } from '../../src/process-host/protocol.ts';
import { createFolder } from '../folders.ts';

test('an interaction sees the end of a process that stands right behind the answer', async () => {
  const path = join(createFolder(), 'host.sock');
  const attached = { kind: 'attached', key: 'a', state: { state: 'running', startedAt: 1 } };
  const server = createServer((socket) => {
    readJsonLines(socket, (message) => {
      const { id, op } = message as HostRequest;
      const lines =
        op === 'interact'
          ? [
              { id, answer: attached },
              { event: 'exit', key: 'a', exit: {} },
            ]
          : [{ id, answer: { key: 'a' } }];
      socket.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    });
  });
  server.listen(path);
  await once(server, 'listening');
  const socket = connect(path);
  await once(socket, 'connect');
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  const outcome = await interactOver(
    new HostConnection(socket),
    { owner: 's', number: 1_234, call: 'c', input: '' },
    { limitMs: 600_000, signal: new AbortController().signal, onOutput: () => undefined },
  );
  expect(outcome).toEqual({ kind: 'read', reading: { key: 'a' } });
});
