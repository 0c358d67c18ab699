import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Delta, SessionEvent } from '@holdfast/protocol';
import { isTerminal } from '@holdfast/protocol';
import { createLogger } from '@holdfast/telemetry';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLocalEngine, type LocalEngine } from '../src/index.ts';

const patch = '*** Begin Patch\n*** Add File: made.txt\n+hello\n*** End Patch';
const script = JSON.stringify({
  replies: [
    { output: [{ call: { name: 'exec_command', arguments: { cmd: 'printf out; exit 3' } } }] },
    { output: [{ custom: { name: 'apply_patch', input: patch } }] },
    { output: [{ text: 'Made it.' }] },
  ],
});

describe('the engine in one process', () => {
  let folder = '';
  let engine: LocalEngine;
  const deltas: Delta[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-engine-'));
    engine = await createLocalEngine({
      stateDir: join(folder, 'state'),
      workspace: folder,
      env: { PATH: process.env['PATH'], HOME: folder },
      logger: createLogger({ service: 'test', level: 'silent' }),
      onDelta: (delta) => deltas.push(delta),
    });
  });
  afterAll(async () => {
    await engine.close();
    await rm(folder, { recursive: true });
  });

  async function collect(events: AsyncIterable<SessionEvent>): Promise<SessionEvent[]> {
    const seen: SessionEvent[] = [];
    for await (const event of events) {
      seen.push(event);
      if (isTerminal(event)) break;
    }
    return seen;
  }

  test('runs a scripted turn with a command and a patch on this machine', async () => {
    const session = await engine.createSession({
      settings: { model: { name: 'scripted', script } },
      input: { inputId: 'one', text: 'make it' },
    });
    const events = await collect(session.events());
    const told = events.map((event) => ('status' in event ? `${event.type} ${event.status}` : event.type));
    const toStep = (result: string) => ['step started', 'usage', 'tool_call', result, 'step completed'];
    expect(told).toEqual(
      [
        'status starting',
        toStep('tool_result failed'),
        toStep('tool_result ok'),
        ['step started', 'text', 'usage', 'step completed'],
        'status completed',
      ].flat(),
    );
    expect(
      events.flatMap((event) => (event.type === 'tool_result' ? [event.exitCode, event.changes] : [])),
    ).toEqual([3, undefined, undefined, [{ path: join(folder, 'made.txt'), kind: 'add' }]]);
    expect(await readFile(join(folder, 'made.txt'), 'utf8')).toBe('hello\n');
    expect(deltas.filter(({ kind }) => kind === 'output').map(({ text }) => text)).toEqual(['out']);
  });

  test('gives a session the settings that the session-api would give it', async () => {
    const baseUrl = 'http://127.0.0.1:9/v1';
    const { sessionId } = await engine.createSession({
      settings: { model: { name: 'm', baseUrl, apiKey: 'secret' } },
    });
    const { settings, title } = await engine.store.readSession({ sessionId });
    expect({ settings, title }).toEqual({
      title: 'Untitled session',
      settings: {
        cwd: folder,
        machineId: engine.machine.machineId,
        approvalPolicy: 'never',
        model: { name: 'm', endpoint: { baseUrl, sealedKey: expect.not.stringContaining('secret') } },
      },
    });
  });

  test('says that nothing runs when it is told to interrupt nothing', async () => {
    const session = await engine.createSession({ settings: { model: { name: 'scripted', script } } });
    await expect(session.interrupt()).rejects.toMatchObject({ code: 'session.not-running' });
  });
});
