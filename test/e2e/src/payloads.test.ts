import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toWorkflowId } from '@holdfast/contracts';
import { answer, command, driveSession, patch, script, startTestStack } from '@holdfast/testing';
import type { TestStack } from '@holdfast/testing';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

type Payload = { data?: Uint8Array | null };

/** Every payload anywhere in a history, as bytes. */
function toPayloads(value: unknown): Uint8Array[] {
  if (value === null || typeof value !== 'object') return [];
  const { data } = value as Payload;
  if (data instanceof Uint8Array) return [data];
  return Object.values(value).flatMap(toPayloads);
}

async function readHistory(sessionId: string): Promise<unknown> {
  const connection = await Connection.connect({ address: stack.addresses()['temporal'] ?? '' });
  const client = new Client({ connection, namespace: 'holdfast' });
  const history = await client.workflow.getHandle(toWorkflowId(sessionId)).fetchHistory();
  await connection.close();
  return history;
}

describe('what Temporal stores', () => {
  test('is ids and counts: no conversation, no command, no patch, no output, no key, nothing over 2 KB', async () => {
    const secrets = [
      'SECRET-PROMPT',
      'SECRET-COMMAND',
      'SECRET-PATCH',
      'SECRET-OUTPUT',
      'SECRET-ANSWER',
      'sk-driven-session-key',
    ];
    const session = await driveSession(
      stack,
      script(
        command('echo SECRET-COMMAND; cat output; head -c 2000000 /dev/zero'),
        patch('*** Add File: f', '+SECRET-PATCH'),
        answer('SECRET-ANSWER'),
      ),
    );
    writeFileSync(join(session.cwd, 'output'), 'SECRET-OUTPUT\n');
    await session.prompt('SECRET-PROMPT');
    await session.untilTurnEnds();
    const payloads = toPayloads(await readHistory(session.sessionId));
    expect(payloads.length).toBeGreaterThan(5);
    const texts = payloads.map((bytes) => Buffer.from(bytes).toString());
    for (const secret of secrets) expect(texts.filter((text) => text.includes(secret))).toEqual([]);
    expect(Math.max(...payloads.map((bytes) => bytes.length))).toBeLessThanOrEqual(2048);
  });

  test('does not quote what a provider says about the conversation; the person reads it all the same', async () => {
    const fail = {
      status: 400,
      code: 'invalid_prompt',
      message: 'I refuse SECRET-QUOTE',
      times: 'always' as const,
    };
    const session = await driveSession(stack, script({ ...answer(''), fail }), { prompt: 'go' });
    const end = (await session.untilTurnEnds()).at(-1);
    expect(JSON.stringify(end)).toContain('SECRET-QUOTE');
    const history = await readHistory(session.sessionId);
    const texts = toPayloads(history).map((bytes) => Buffer.from(bytes).toString());
    expect(texts.join() + JSON.stringify(history)).not.toContain('SECRET-QUOTE');
  });
});
