import { Failure } from '@holdfast/failures';
import { describe, expect, test } from 'vitest';
import { toApplicationFailure } from '../src/index.ts';

describe('a failure on its way to Temporal', () => {
  test.each([
    ['model.stream-cut', false],
    ['model.rate-limited', false],
    ['store.unavailable', false],
    ['model.unauthorized', true],
    ['machine.unknown', true],
    ['store.stale-fence', true],
  ] as const)('travels as its code, %s, and is final: %s', (code, nonRetryable) => {
    const sent = toApplicationFailure(new Failure(code));
    expect({ type: sent.type, nonRetryable: sent.nonRetryable }).toEqual({ type: code, nonRetryable });
  });

  test('leaves its details behind, which may quote the conversation', () => {
    const sent = toApplicationFailure(new Failure('model.failed', { detail: 'SECRET', cause: 'SECRET' }));
    expect(JSON.stringify([sent.message, sent.details, sent.cause])).not.toContain('SECRET');
  });

  test('asks for the pause that the other side asked for, unless the thrower knows better', () => {
    const limited = new Failure('model.rate-limited', { retryAfterMs: 7_000 });
    expect(toApplicationFailure(limited).nextRetryDelay).toBe(7_000);
    expect(toApplicationFailure(limited, { repeat: true, pauseMs: 5 }).nextRetryDelay).toBe(5);
    expect(toApplicationFailure(limited, { repeat: false })).toMatchObject({ nonRetryable: true });
    expect(toApplicationFailure(new Failure('model.stream-cut')).nextRetryDelay).toBeUndefined();
  });
});
