import { answer, command, driveSession, script, startTestStack } from '@holdfast/testing';
import type { TestStack } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

describe('a large output', () => {
  test.each([2, 20])('of %i MB reaches the model bounded and is kept whole as a blob', async (megabytes) => {
    const size = megabytes * 1_000_000;
    const cmd = `head -c ${size - 10} /dev/zero | tr '\\0' 'x'; printf '0123456789'`;
    const session = await driveSession(stack, script(command(cmd), answer('ok')), { prompt: 'go' });
    const events = await session.untilTurnEnds();
    const result = events.find((event) => event.type === 'tool_result');
    expect(result?.status).toBe('ok');
    expect(result?.text.length).toBeLessThan(45_000);
    expect(result?.text).toContain('tokens truncated');
    expect(result?.text.endsWith('0123456789')).toBe(true);
    const { bytes } = await stack.client.readBlob(result?.full?.digest ?? '');
    expect(bytes.length).toBe(size);
    expect(Buffer.from(bytes.subarray(-10)).toString()).toBe('0123456789');
  });
});
