import { describe, expect, test } from 'vitest';
import { toStartOrder } from '../src/plan.ts';
import { nodeProcess } from './fixtures/node-process.ts';

const plan = (graph: Record<string, string[]>) =>
  Object.entries(graph).map(([name, dependsOn]) => nodeProcess({ name, dependsOn }));

describe('the start order', () => {
  test('puts every process after those it depends on and keeps the given order otherwise', () => {
    const specs = plan({
      api: ['store', 'temporal'],
      temporal: [],
      store: ['postgres'],
      postgres: [],
      nats: [],
    });
    expect(toStartOrder(specs).map(({ name }) => name)).toEqual([
      'postgres',
      'store',
      'temporal',
      'api',
      'nats',
    ]);
  });

  test('puts a process also after those it only uses', () => {
    const specs = [nodeProcess({ name: 'worker', uses: ['store'] }), nodeProcess({ name: 'store' })];
    expect(toStartOrder(specs).map(({ name }) => name)).toEqual(['store', 'worker']);
  });

  test('does not exist for a circle, an unknown dependency or a name used twice', () => {
    expect(() => toStartOrder(plan({ a: ['b'], b: ['c'], c: ['a'] }))).toThrow(
      'The plan of the stack is wrong: a → b → c → a is a circle; correct the plan.',
    );
    expect(() => toStartOrder(plan({ a: ['b'] }))).toThrow(
      'The plan of the stack is wrong: a depends on b, which is not in it; correct the plan.',
    );
    expect(() => toStartOrder([...plan({ a: [] }), ...plan({ a: [] })])).toThrow(
      'The plan of the stack is wrong: two processes have the same name; correct the plan.',
    );
  });
});
