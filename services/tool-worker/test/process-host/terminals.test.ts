import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ProcessHostClient } from '../../src/process-host/client.ts';
import type { Reading } from '../../src/process-host/protocol.ts';
import { toWholeCharacters } from '../../src/process-host/whole-characters.ts';
import { createClient, run, toSpec, waitForLine } from './hosts.ts';

const never = new AbortController().signal;
/** Without the character that stands for what cannot be read. */
const anyText = fc.string({ unit: 'binary', maxLength: 8 }).filter((text) => !text.includes('\ufffd'));
const tty = { columns: 80, rows: 24 };

/** Runs a script that goes to the background at once. */
async function background(
  client: ProcessHostClient,
  key: string,
  script: string,
  given: { owner?: string; tty?: typeof tty } = {},
): Promise<Reading> {
  const { owner = 's', ...more } = given;
  const outcome = await client.run(toSpec(key, script, more), {
    onOutput: () => undefined,
    signal: never,
    background: { afterMs: 0, owner, command: script, notify: false },
  });
  if (outcome.state !== 'read') throw new Error(`the process is ${outcome.state}`);
  return outcome.reading;
}

/** Waits only as long as the process does not end. */
const look = (
  client: ProcessHostClient,
  request: { owner: string; number: number; call: string; input: string },
) => client.interact(request, { limitMs: 60_000, signal: never, onOutput: () => undefined });

describe('a background terminal', () => {
  test('is reached by its owner only', async () => {
    const { client } = createClient();
    const { number } = await background(client, 'a', 'sleep 300', { owner: 'one' });
    const request = { number, call: 'c', input: '\u0003' };
    expect(await look(client, { ...request, owner: 'two' })).toEqual({ kind: 'no-terminal' });
    expect((await look(client, { ...request, owner: 'one' })).kind).toBe('read');
  });

  test('has a number that no other one of its owner has', async () => {
    const { client } = createClient();
    const keys = Array.from({ length: 12 }, (_, index) => `key-${index}`);
    const readings = await Promise.all(keys.map((key) => background(client, key, 'sleep 300')));
    const numbers = readings.map(({ number }) => number);
    expect(new Set(numbers).size).toBe(12);
    expect(numbers.every((number) => number >= 1_000 && number <= 99_999)).toBe(true);
  });

  test('gives a call that is repeated the same reading, and the next call what came after it', async () => {
    const { client, stateDir } = createClient();
    const { number } = await background(client, 'a', 'while read x; do echo "got $x"; done', { tty });
    const first = { owner: 's', number, call: 'c1', input: 'one\n' };
    const wait = { limitMs: 300, signal: never, onOutput: () => undefined };
    const reading = await client.interact(first, wait);
    expect(await client.interact(first, wait)).toEqual(reading);
    const other = createClient(stateDir).client;
    expect(await other.interact(first, wait)).toEqual(reading);
    const next = await look(client, { owner: 's', number, call: 'c2', input: '\u0004' });
    if (reading.kind !== 'read' || next.kind !== 'read') throw new Error('not read');
    expect(next.reading.start).toBe(reading.reading.end);
    expect(next.reading.state).toMatchObject({ state: 'exited', exit: { code: 0 } });
  });

  test('is typed into once for a call, also when the call was cut off before it read', async () => {
    const { client, stateDir } = createClient();
    const seen = join(stateDir, 'seen');
    const script = `while read x; do echo "$x" >> ${seen}; done`;
    const { number } = await background(client, 'a', script, { tty });
    const request = { owner: 's', number, call: 'c1', input: 'one\n' };
    const stop = new AbortController();
    const cut = client.interact(request, { limitMs: 60_000, signal: stop.signal, onOutput: () => undefined });
    await waitForLine(seen);
    stop.abort();
    expect(await cut).toEqual({ kind: 'stopped' });
    await client.interact(request, { limitMs: 200, signal: never, onOutput: () => undefined });
    await look(client, { owner: 's', number, call: 'c2', input: '\u0004' });
    expect(readFileSync(seen, 'utf8')).toBe('one\n');
  });

  test('is forgotten when its end was told, and read again when nobody saw what was read', async () => {
    const { client } = createClient();
    const { number } = await background(client, 'a', 'echo out; sleep 300');
    const ended = await look(client, { owner: 's', number, call: 'c1', input: '\u0003' });
    await client.settle('c1', { unread: true });
    const again = await look(client, { owner: 's', number, call: 'c2', input: '' });
    if (ended.kind !== 'read' || again.kind !== 'read') throw new Error('not read');
    expect([again.reading.start, again.reading.end]).toEqual([ended.reading.start, ended.reading.end]);
    await client.settle('c2', { unread: false });
    expect([await client.terminals(), await client.list()]).toEqual([[], {}]);
  });

  test('that nobody was told of is ended, and one that was told of goes on', async () => {
    const { client } = createClient();
    const told = await background(client, 'told', 'sleep 300');
    await background(client, 'untold', 'sleep 300');
    await client.settle('told', { unread: false });
    await client.settle('told', { unread: true });
    await client.settle('untold', { unread: true });
    const states = (await client.terminals()).map(({ key, state }) => [key, state.state]);
    expect(states).toEqual([
      ['told', 'running'],
      ['untold', 'exited'],
    ]);
    expect((await client.terminals())[0]?.number).toBe(told.number);
  });

  test('is resized', async () => {
    const { client, stateDir } = createClient();
    const size = join(stateDir, 'size');
    const script = `trap 'stty size > ${size}' WINCH; echo ready; while :; do sleep 0.02; done`;
    const ready = Promise.withResolvers<void>();
    const running = client.run(toSpec('a', script, { tty }), {
      onOutput: () => ready.resolve(),
      signal: never,
      background: { afterMs: 500, owner: 's', command: script, notify: false },
    });
    await ready.promise;
    const outcome = await running;
    if (outcome.state !== 'read') throw new Error('not in the background');
    const { number } = outcome.reading;
    expect(await client.resize({ owner: 's', number }, { columns: 132, rows: 43 })).toBe(true);
    expect(await waitForLine(size)).toBe('43 132');
    expect(await client.resize({ owner: 'other', number }, tty)).toBe(false);
  });

  test('makes room at 64: first those that have ended, then the least recently used, never the newest 8', async () => {
    const { client } = createClient();
    const numbers: number[] = [];
    for (let index = 0; index < 64; index += 1)
      numbers.push((await background(client, `key-${index}`, 'exec sleep 300')).number);
    await client.kill('key-40', 0);
    const others = await background(client, 'other', 'exec sleep 300', { owner: 'other' });
    const left = async () =>
      (await client.terminals()).flatMap(({ owner, number }) => (owner === 's' ? [number] : []));
    await background(client, 'key-64', 'exec sleep 300');
    await expect.poll(left).not.toContain(numbers[40]);
    expect(await left()).toHaveLength(64);
    await client.interact(
      { owner: 's', number: numbers[0] ?? 0, call: 'c', input: '' },
      { limitMs: 0, signal: never, onOutput: () => undefined },
    );
    await background(client, 'key-65', 'exec sleep 300');
    await expect.poll(left).not.toContain(numbers[1]);
    expect(await left()).toContain(numbers[0]);
    expect((await client.terminals()).map(({ number }) => number)).toContain(others.number);
  });

  test('whose number never was is told apart from one that cannot be typed into', async () => {
    const { client } = createClient();
    expect(await look(client, { owner: 's', number: 1_234, call: 'c', input: '' })).toEqual({
      kind: 'no-terminal',
    });
    const { number } = await background(client, 'a', 'sleep 300');
    expect(await look(client, { owner: 's', number, call: 'c', input: 'x' })).toEqual({ kind: 'no-input' });
    expect((await run(client, toSpec('b', 'echo fine'))).output).toBe('fine\n');
  });
});

test('whole characters: what is cut off at the end of UTF-8 is a character that is not whole, and nothing else', () => {
  fc.assert(
    fc.property(anyText, fc.nat(), (text, cut) => {
      const bytes = Buffer.from(text);
      const part = bytes.subarray(0, bytes.length === 0 ? 0 : cut % (bytes.length + 1));
      const whole = part.subarray(0, toWholeCharacters(part));
      expect(text.startsWith(whole.toString('utf8'))).toBe(true);
      expect(part.length - whole.length).toBeLessThan(4);
      expect(Buffer.from(part.toString('utf8').replace(/\ufffd+$/u, ''))).toEqual(whole);
    }),
  );
  expect(toWholeCharacters(Buffer.from([0xff, 0xff]))).toBe(2);
  expect(toWholeCharacters(Buffer.from([0x80, 0x80, 0x80, 0x80]))).toBe(4);
});
