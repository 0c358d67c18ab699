// lease.ts: the right of this process to serve its machine, as the store sees it.
import { setTimeout as delay } from 'node:timers/promises';
import type { MachineDirectory } from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import type { Logger } from '@holdfast/telemetry';
import type { Machine } from './machine.ts';

const renewalMs = 5_000;
const retryMs = 200;

export type LeaseOptions = {
  /** Should give up on a request well before the lease ends. */
  store: Pick<MachineDirectory, 'registerMachine' | 'renewLease' | 'releaseLease'>;
  machine: Pick<Machine, 'registration' | 'earlierBoots' | 'confirmBoot'>;
  logger: Logger;
};

export type Lease = {
  /** Resolves when the store has taken the registration. Never rejects. */
  held: Promise<void>;
  isHeld(): boolean;
  /** Resolves when the machine is somebody else's: at the registration or later. Never rejects. */
  lost: Promise<Failure>;
  /** Gives the lease back. Idempotent. */
  release(): Promise<void>;
};

/** Registers as soon as the store answers and renews until released or lost. */
export function keepLease(options: LeaseOptions): Lease {
  const { machineId, bootId } = options.machine.registration;
  const stop = new AbortController();
  const held = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<Failure>();
  const state = { held: false };
  const taken = () => {
    state.held = true;
    options.machine.confirmBoot();
    held.resolve();
  };
  const running = hold(options, taken, stop.signal).catch((error: unknown) => {
    state.held = false;
    lost.resolve(error instanceof Failure ? error : new Failure('internal.unexpected', { cause: error }));
  });
  let released: Promise<void> | undefined;
  const release = async () => {
    stop.abort();
    await running;
    if (!state.held) return;
    state.held = false;
    await options.store.releaseLease({ machineId, bootId }).catch(() => undefined);
  };
  return {
    held: held.promise,
    isHeld: () => state.held,
    lost: lost.promise,
    release: () => (released ??= release()),
  };
}

/** Returns after an abort. @throws Failure machine.lease-held, machine.lease-lost, or another one that waiting does not help */
async function hold(options: LeaseOptions, taken: () => void, signal: AbortSignal): Promise<void> {
  const { store, machine } = options;
  const { machineId, bootId } = machine.registration;
  await patiently(options, signal, () => register(options));
  if (signal.aborted) return;
  taken();
  for (;;) {
    await delay(renewalMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    await patiently(options, signal, () => store.renewLease({ machineId, bootId }));
  }
}

/** A boot that died between its registration and its note of it still has the lease; its successor names it. */
async function register({ store, machine }: LeaseOptions): Promise<void> {
  const candidates = machine.earlierBoots.length === 0 ? [undefined] : machine.earlierBoots;
  for (const [index, replaces] of candidates.entries()) {
    try {
      await store.registerMachine({
        ...machine.registration,
        ...(replaces === undefined ? {} : { replaces }),
      });
      return;
    } catch (error) {
      const isHeld = error instanceof Failure && error.code === 'machine.lease-held';
      if (!isHeld || index === candidates.length - 1) throw error;
    }
  }
}

/** Repeats while the store cannot be reached. */
async function patiently(
  options: LeaseOptions,
  signal: AbortSignal,
  request: () => Promise<unknown>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await request();
      return;
    } catch (error) {
      if (error instanceof Failure && error.class !== 'transient') throw error;
      options.logger.warn({ err: error }, 'the lease of this machine waits for the history store');
      await delay(retryMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
