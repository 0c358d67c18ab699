import { describe, expect, test } from 'vitest';
import { acceptInput, createQueue, endTurn, requestToolRefresh, takeTurn } from '../src/index.ts';

describe('the queue of a session', () => {
  test('accepts an input id once', () => {
    const queue = createQueue('s');
    acceptInput(queue, { inputId: 'a', kind: 'prompt' });
    acceptInput(queue, { inputId: 'a', kind: 'prompt' });
    expect(queue.queue).toEqual(['a']);
  });

  test('keeps prompts waiting while a turn runs and lets steers join it', () => {
    const queue = createQueue('s');
    acceptInput(queue, { inputId: 'a', kind: 'prompt' });
    const turn = takeTurn(queue);
    acceptInput(queue, { inputId: 'b', kind: 'prompt' });
    acceptInput(queue, { inputId: 'c', kind: 'steer' });
    expect(turn).toEqual({ turnId: 'a', step: 1, inputs: ['a', 'c'] });
    expect(queue.queue).toEqual(['b']);
  });

  test('turns a steer into a turn when none runs', () => {
    const queue = createQueue('s');
    acceptInput(queue, { inputId: 'a', kind: 'steer' });
    expect(takeTurn(queue)?.turnId).toBe('a');
  });

  test('runs a steer that the ended turn did not record before the next prompt', () => {
    const queue = createQueue('s');
    for (const inputId of ['a', 'b']) acceptInput(queue, { inputId, kind: 'prompt' });
    takeTurn(queue);
    acceptInput(queue, { inputId: 'c', kind: 'steer' });
    endTurn(queue);
    expect(queue.queue).toEqual(['c', 'b']);
    expect(queue.turn).toBeUndefined();
  });

  test('goes on with a suspended turn instead of starting another', () => {
    const queue = createQueue('s');
    for (const inputId of ['a', 'b']) acceptInput(queue, { inputId, kind: 'prompt' });
    const turn = takeTurn(queue);
    expect(takeTurn(queue)).toBe(turn);
  });

  test('remembers the newest 200 ids, enough to carry through continue-as-new', () => {
    const queue = createQueue('s');
    for (let index = 0; index < 300; index += 1) acceptInput(queue, { inputId: `i${index}`, kind: 'prompt' });
    expect(queue.recent).toHaveLength(200);
    expect(queue.recent.at(-1)).toBe('i299');
  });

  test('hands a request for fresh tools to the running turn, or to the next one', () => {
    const queue = createQueue('s');
    requestToolRefresh(queue);
    acceptInput(queue, { inputId: 'a', kind: 'prompt' });
    const turn = takeTurn(queue);
    expect(turn?.refreshTools).toBe(true);
    expect(queue.refreshTools).toBe(false);
  });
});
