import { expect, test } from 'vitest';
import { createSessionOrder } from '../src/session-order.ts';

test('work of one session waits for earlier work, also after a failure; other sessions do not wait', async () => {
  const order = createSessionOrder();
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = order.run('a', async () => {
    await gate.promise;
    log.push('a1');
    throw new Error('a1 failed');
  });
  const second = order.run('a', async () => log.push('a2'));
  await order.run('b', async () => log.push('b1'));
  gate.resolve();
  await expect(first).rejects.toThrow('a1 failed');
  await second;
  await order.run('a', async () => log.push('a3'));
  expect(log).toEqual(['b1', 'a1', 'a2', 'a3']);
});
