import type { Delta, SessionEvent } from '@holdfast/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventFeed } from '../src/domain/event-feed.ts';

const sessionId = '0f9a3c52-6f0c-4bb8-9a53-6f1c7a7d2a11';

function toStep(seq: number): SessionEvent {
  return {
    seq,
    sessionId,
    turnId: 't',
    at: '2026-11-21T10:00:00.000Z',
    type: 'step',
    step: seq,
    status: 'started',
  };
}

type Read = { answer(): void; answerWithWhatWasThere(): void; fail(): void };

/** A store, a bus and a viewer, all moved by hand. */
class Scene {
  readonly log: SessionEvent[] = [];
  readonly sent: number[] = [];
  readonly reads: Read[] = [];
  readonly deltas: Delta[] = [];
  readonly after: number;
  readonly feed: EventFeed;

  constructor(after: number, events = 0) {
    this.after = after;
    for (let seq = 1; seq <= events; seq += 1) this.log.push(toStep(seq));
    this.feed = new EventFeed({
      after,
      source: { readEvents: (from, limit) => this.#read(from, limit) },
      viewer: {
        sendEvent: (event) => {
          this.sent.push(event.seq);
          return event.seq % 3 === 0 ? Promise.resolve() : undefined;
        },
        sendDelta: (delta) => this.deltas.push(delta),
      },
    });
  }

  append(count: number): void {
    for (let added = 0; added < count; added += 1) this.log.push(toStep(this.log.length + 1));
  }

  /** Answers reads until nobody asks any more. */
  async settle(): Promise<void> {
    for (let idle = 0; idle < 3; idle += 1) {
      await turnOfTheLoop();
      for (const read of this.reads.splice(0)) {
        read.answer();
        idle = 0;
      }
    }
  }

  #read(from: number, limit: number): Promise<SessionEvent[]> {
    const atCall = this.log.slice(from, from + limit);
    const { promise, resolve, reject } = Promise.withResolvers<SessionEvent[]>();
    this.reads.push({
      answer: () => resolve(this.log.slice(from, from + limit)),
      answerWithWhatWasThere: () => resolve(atCall),
      fail: () => reject(new Error('the store is away')),
    });
    return promise;
  }
}

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function upTo(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index + 1);
}

type Action =
  | { do: 'append'; count: number }
  | { do: 'live'; ahead: number }
  | { do: 'tick' | 'answer' | 'answer-old' | 'fail' | 'pause' };

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('append' as const), count: fc.integer({ min: 1, max: 250 }) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('live' as const), ahead: fc.integer({ min: -2, max: 4 }) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'tick' as const,
        'answer' as const,
        'answer-old' as const,
        'fail' as const,
        'pause' as const,
      ),
    }),
  },
);

async function perform(scene: Scene, step: Action): Promise<void> {
  switch (step.do) {
    case 'append':
      scene.append(step.count);
      break;
    case 'live': {
      const event = scene.log[scene.after + scene.sent.length + step.ahead];
      if (event) scene.feed.receive(event);
      break;
    }
    case 'tick':
      void scene.feed.catchUp();
      break;
    case 'answer':
      scene.reads.shift()?.answer();
      break;
    case 'answer-old':
      scene.reads.shift()?.answerWithWhatWasThere();
      break;
    case 'fail':
      scene.reads.shift()?.fail();
      break;
    case 'pause':
      await turnOfTheLoop();
      break;
  }
}

describe('the event feed', () => {
  test('sends every event once and in order, whatever the bus loses, repeats and reorders and the store delays', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(20), fc.array(action, { maxLength: 60 }), async (after, actions) => {
        const scene = new Scene(after, after);
        void scene.feed.catchUp();
        for (const step of actions) {
          await perform(scene, step);
          expect(scene.sent).toEqual(upTo(after, after + scene.sent.length));
        }
        await scene.settle();
        void scene.feed.catchUp();
        await scene.settle();
        expect(scene.sent).toEqual(upTo(after, scene.log.length));
      }),
      { numRuns: 300 },
    );
  });

  test('sends a live event at once, without asking the store', async () => {
    const scene = new Scene(0, 2);
    void scene.feed.catchUp();
    await scene.settle();
    scene.append(1);
    scene.feed.receive(toStep(3));
    expect(scene.sent).toEqual([1, 2, 3]);
    expect(scene.reads).toEqual([]);
  });

  test('reads the store when a gap shows, once', async () => {
    const scene = new Scene(0);
    scene.append(4);
    scene.feed.receive(toStep(3));
    scene.feed.receive(toStep(4));
    expect(scene.reads).toHaveLength(1);
    await scene.settle();
    expect(scene.sent).toEqual([1, 2, 3, 4]);
  });

  test.each([0, 1])(
    'reads again when news came while it read what was there before: %i events',
    async (events) => {
      const scene = new Scene(0, events);
      void scene.feed.catchUp();
      scene.append(3);
      scene.feed.receive(toStep(events + 3));
      scene.reads.shift()?.answerWithWhatWasThere();
      await scene.settle();
      expect(scene.sent).toEqual(upTo(0, events + 3));
    },
  );

  test('does not ask for ever for an event that the store does not have', async () => {
    const scene = new Scene(0, 2);
    scene.feed.receive(toStep(9));
    await scene.settle();
    expect(scene.sent).toEqual([1, 2]);
  });

  test('sends nothing more when it is closed', async () => {
    const scene = new Scene(0, 3);
    void scene.feed.catchUp();
    scene.feed.close();
    scene.feed.receive(toStep(1));
    scene.feed.receiveDelta({ sessionId, turnId: 't', attempt: 1, kind: 'text', step: 1, text: 'x' });
    await scene.settle();
    expect(scene.sent).toEqual([]);
    expect(scene.deltas).toEqual([]);
  });
});
