import { createSecretBox } from '@holdfast/config';
import { describe, expect, test } from 'vitest';
import { openDoor, secretKey } from './door.ts';
import { toMachine } from './memory-store.ts';

const sessionId = '0f9a3c52-6f0c-4bb8-9a53-6f1c7a7d2a11';
const model = { name: 'gpt-5.5' };

describe('creating a session', () => {
  test('keeps what its model is offered and how it reads outputs', async () => {
    await using door = await openDoor();
    const given = { ...model, tools: 'files', outputStyle: 'lines' } as const;
    expect((await door.client.createSession({ settings: { model: given } })).settings.model).toEqual(given);
  });

  test('creates it on the only machine, in its workspace, and starts the first turn in the same request', async () => {
    await using door = await openDoor();
    const created = await door.client.createSession({
      sessionId,
      settings: { model },
      input: { inputId: 'in-1', text: '\n  Fix the test  \nplease' },
    });
    expect(created).toEqual({
      sessionId,
      title: 'Fix the test',
      state: 'idle',
      settings: { cwd: '/srv/laptop', machineId: 'm-laptop', model, approvalPolicy: 'never' },
      turns: 0,
      lastItemSeq: 1,
      lastEventSeq: 0,
      createdAt: '2026-11-21T10:00:00.000Z',
      updatedAt: '2026-11-21T10:00:00.000Z',
      delivered: true,
    });
    expect(door.store.calls).toEqual(['listMachines', 'createSession', 'addInput']);
    expect(door.delivery.taken).toEqual([{ message: 'submit', sessionId, id: 'prompt in-1' }]);
  });

  test('tells the model where it is', async () => {
    await using door = await openDoor();
    await door.client.createSession({ sessionId, settings: { model, cwd: '/tmp/a&b' } });
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    const today = new Date().toLocaleDateString('sv-SE', { timeZone });
    const text = [
      '<environment_context>',
      '  <cwd>/tmp/a&amp;b</cwd>',
      '  <shell>bash</shell>',
      `  <current_date>${today}</current_date>`,
      `  <timezone>${timeZone}</timezone>`,
      '</environment_context>',
    ].join('\n');
    expect(await door.client.open(sessionId).readItems()).toEqual([
      { seq: 1, item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] } },
    ]);
  });

  test('seals the model key before it goes anywhere, and shows nobody even the sealed form', async () => {
    await using door = await openDoor();
    const baseUrl = 'http://127.0.0.1:1/v1';
    const created = await door.client.createSession({
      sessionId,
      settings: { model: { ...model, baseUrl, apiKey: 'sk-very-secret', script: '{}' } },
    });
    const kept = door.store.kept(sessionId).session.settings.model;
    expect(JSON.stringify(kept)).not.toContain('sk-very-secret');
    expect(createSecretBox(secretKey).open(kept.endpoint?.sealedKey ?? '')).toBe('sk-very-secret');
    const shown = { name: 'gpt-5.5', endpoint: { baseUrl } };
    expect(created.settings.model).toEqual(shown);
    expect((await door.client.open(sessionId).read()).settings.model).toEqual(shown);
    expect((await door.client.listSessions()).map(({ settings }) => settings.model)).toEqual([shown]);
  });

  test('refuses a key without the endpoint it is for', async () => {
    await using door = await openDoor();
    await expect(
      door.client.createSession({ settings: { model: { ...model, apiKey: 'sk-1' } } }),
    ).rejects.toMatchObject({ code: 'input.invalid' });
  });

  test('waits for a machine that is offline, unless it is required to be online', async () => {
    await using door = await openDoor();
    door.store.machines.push({ ...toMachine('gpu-1'), online: false });
    const settings = { model, machine: 'gpu-1' };
    const required = door.client.createSession({ settings, requireOnline: true });
    await expect(required).rejects.toMatchObject({ code: 'machine.offline', detail: 'gpu-1' });
    expect(await door.client.listSessions()).toEqual([]);
    expect(await door.client.createSession({ settings })).toMatchObject({
      settings: { machineId: 'm-gpu-1' },
    });
  });

  test('looks anew whether a machine that is required to be online still is', async () => {
    await using door = await openDoor();
    const request = { settings: { model, machine: 'laptop' }, requireOnline: true };
    await door.client.createSession(request);
    door.store.machines.splice(0, 1, { ...toMachine('laptop'), online: false });
    await expect(door.client.createSession(request)).rejects.toMatchObject({ code: 'machine.offline' });
  });

  test('names the known machines when the machine is unknown, and finds a new one at once', async () => {
    await using door = await openDoor();
    const settings = { model, machine: 'gpu-1' };
    await expect(door.client.createSession({ settings })).rejects.toMatchObject({
      code: 'machine.unknown',
      detail: 'no machine is named gpu-1; known: laptop',
    });
    door.store.machines.push(toMachine('gpu-1'));
    expect((await door.client.createSession({ settings })).settings.machineId).toBe('m-gpu-1');
    await expect(door.client.createSession({ settings: { model } })).rejects.toMatchObject({
      detail: 'no machine was named; known: laptop, gpu-1',
    });
  });

  test('makes one session and one input of a repeated request', async () => {
    await using door = await openDoor();
    const request = { sessionId, settings: { model }, input: { inputId: 'in-1', text: 'go' } };
    await door.client.createSession(request);
    await door.client.createSession(request);
    expect(await door.client.listSessions()).toHaveLength(1);
    expect([...door.store.kept(sessionId).inputs.keys()]).toEqual(['in-1']);
  });

  test('cuts a long title at 80 characters', async () => {
    await using door = await openDoor();
    const created = await door.client.createSession({
      settings: { model },
      input: { inputId: 'in-1', text: '😀'.repeat(200) },
    });
    expect(created.title).toBe(`${'😀'.repeat(79)}…`);
  });
});

describe('closing a session', () => {
  test('ends the running turn, refuses further input and tells the engine', async () => {
    await using door = await openDoor();
    await door.client.createSession({
      sessionId,
      settings: { model },
      input: { inputId: 'in-1', text: 'go' },
    });
    door.store.startTurn(sessionId, 'in-1');
    const session = door.client.open(sessionId);
    await session.close();
    expect((await session.read()).state).toBe('closed');
    expect((await session.listTurns()).map(({ status }) => status)).toEqual(['cancelled']);
    await door.delivery.until(2);
    expect(door.delivery.taken.at(-1)).toEqual({ message: 'close', sessionId, id: '' });
    await expect(session.submit({ inputId: 'in-2', text: 'more' })).rejects.toMatchObject({
      code: 'session.closed',
    });
    await expect(session.refreshTools()).rejects.toMatchObject({ code: 'session.closed' });
    await session.close();
  });
});

describe('reading', () => {
  test('lists machines and gateways', async () => {
    await using door = await openDoor();
    expect(await door.client.listMachines()).toEqual([toMachine('laptop'), toMachine('mcp', 'gateway')]);
  });

  test('pages through events', async () => {
    await using door = await openDoor();
    await door.client.createSession({ sessionId, settings: { model } });
    const events = door.store.append(
      sessionId,
      'in-1',
      { type: 'step', step: 1, status: 'started' },
      {
        type: 'tool_result',
        callId: '1.1.0',
        tool: 'exec_command',
        status: 'ok',
        text: 'x',
        durationMs: 1.5,
        exitCode: 0,
      },
      { type: 'error', error: { code: 'model.stream-cut', message: 'cut' }, willRetry: true, attempt: 1 },
    );
    expect(await door.client.open(sessionId).readEvents({ after: 1, limit: 1 })).toEqual([events[1]]);
    expect(await door.client.open(sessionId).readEvents()).toEqual(events);
  });

  test('hands blobs out as bytes that no browser runs', async () => {
    await using door = await openDoor();
    const digest = 'ab'.repeat(32);
    door.store.blobs.set(digest, { bytes: new TextEncoder().encode('<b>'), mediaType: 'text/html' });
    expect(await door.client.readBlob(digest)).toEqual({
      bytes: new TextEncoder().encode('<b>'),
      mediaType: 'text/html',
    });
    await expect(door.client.readBlob('cd'.repeat(32))).rejects.toMatchObject({ code: 'blob.unknown' });
  });
});
