// gates.ts: named points at which an answer is held until a test lets it go on.
// G1  A gate exists by its name, closed until opened; whoever names it first makes it.
// G2  open() frees everyone held and lets later ones through until shut().

export type Gate = {
  /** Idempotent. */
  open(): void;
  /** Holds later answers again. Idempotent. */
  shut(): void;
  /** Resolves as soon as an answer is held here; at once when one is. */
  waiting(): Promise<void>;
};

export type Gates = {
  gate(name: string): Gate;
  /** Resolves when the gate lets the caller through; rejects with the signal's reason when aborted first. */
  hold(name: string, signal: AbortSignal): Promise<void>;
};

type GateState = { isOpen: boolean; held: Set<() => void>; watchers: (() => void)[] };

export function createGates(): Gates {
  const states = new Map<string, GateState>();
  const toState = (name: string): GateState => {
    const state = states.get(name) ?? { isOpen: false, held: new Set(), watchers: [] };
    states.set(name, state);
    return state;
  };
  return {
    gate(name) {
      const state = toState(name);
      return {
        open() {
          state.isOpen = true;
          for (const release of state.held) release();
          state.held.clear();
        },
        shut() {
          state.isOpen = false;
        },
        waiting() {
          if (state.held.size > 0) return Promise.resolve();
          return new Promise((resolve) => state.watchers.push(resolve));
        },
      };
    },
    async hold(name, signal) {
      const state = toState(name);
      signal.throwIfAborted();
      if (state.isOpen) return;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const leave = () => {
        state.held.delete(resolve);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      state.held.add(resolve);
      for (const watcher of state.watchers.splice(0)) watcher();
      try {
        await promise;
      } finally {
        signal.removeEventListener('abort', leave);
      }
    },
  };
}
