// session-order.ts: writes of one session go one after the other, so that their events are reported in the order of their numbers.
// The row lock would make them wait anyway; waiting here keeps the database connections free for other sessions.

export type SessionOrder = {
  /** Runs `work` after all earlier work of the session has settled. */
  run<T>(sessionId: string, work: () => Promise<T>): Promise<T>;
};

export function createSessionOrder(): SessionOrder {
  const last = new Map<string, Promise<unknown>>();
  return {
    run: async (sessionId, work) => {
      const before = last.get(sessionId);
      const mine = before ? before.then(work, work) : work();
      last.set(sessionId, mine);
      try {
        return await mine;
      } finally {
        if (last.get(sessionId) === mine) last.delete(sessionId);
      }
    },
  };
}
