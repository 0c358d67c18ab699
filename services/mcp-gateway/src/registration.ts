// registration.ts: the gateway group's entry in the machine directory.
// G1  All gateways of one name share one machine id. One of them holds the lease and publishes the catalog, the others stand by and take
//     over when its lease ends; calls are served by all of them all the time, because the queue is shared.
// G2  The lease is renewed every 5 s; a changed catalog is published at once, by the same boot.
// G3  The directory may be away: registering goes on until it works, and nothing else waits for it.
import { setTimeout as delay } from 'node:timers/promises';
import type { MachineDirectory } from '@holdfast/agent-loop';
import { Failure, toNotice } from '@holdfast/failures';
import type { MachineRegistration } from '@holdfast/protocol';
import type { Logger } from '@holdfast/telemetry';

export type RegistrationOptions = {
  directory: Pick<MachineDirectory, 'registerMachine' | 'renewLease' | 'releaseLease'>;
  /** With the catalog of the moment. */
  toRegistration: () => MachineRegistration;
  logger: Logger;
  /** Between renewals; a third of the lease. */
  renewalMs?: number;
};

/** leader: this process publishes the catalog. standby: another gateway of the group does. away: the directory did not answer yet. */
type RegistrationState = 'leader' | 'standby' | 'away';

export type Registration = {
  state(): RegistrationState;
  /** Publishes the catalog soon. */
  changed(): void;
  /** Ends the renewals and gives the lease back. Idempotent. */
  stop(): Promise<void>;
};

const defaultRenewalMs = 5_000;
const releaseLimitMs = 1_000;

export function keepRegistered(options: RegistrationOptions): Registration {
  const stopping = new AbortController();
  const lease: Lease = { state: 'away', published: false, wake: new AbortController() };
  const life = renew(options, lease, stopping.signal);
  let released: Promise<void> | undefined;
  return {
    state: () => lease.state,
    changed: () => {
      lease.published = false;
      lease.wake.abort();
    },
    stop: () => {
      stopping.abort();
      released ??= Promise.race([
        life.then(() => release(options, lease)),
        delay(releaseLimitMs, undefined, { ref: false }),
      ]);
      return released;
    },
  };
}

type Lease = {
  state: RegistrationState;
  /** The directory has the catalog of the moment. */
  published: boolean;
  wake: AbortController;
};

async function renew(options: RegistrationOptions, lease: Lease, stopped: AbortSignal): Promise<void> {
  while (!stopped.aborted) {
    lease.wake = new AbortController();
    const before = lease.state;
    lease.state = await takeLease(options, lease);
    if (lease.state !== before) options.logger.info({ state: lease.state }, 'registration of the gateway');
    const signal = AbortSignal.any([stopped, lease.wake.signal]);
    await delay(options.renewalMs ?? defaultRenewalMs, undefined, { signal }).catch(() => undefined);
  }
}

async function takeLease(options: RegistrationOptions, lease: Lease): Promise<RegistrationState> {
  const { directory } = options;
  const registration = options.toRegistration();
  const { machineId, bootId } = registration;
  const publish = lease.state !== 'leader' || !lease.published;
  lease.published = true;
  try {
    await (publish ? directory.registerMachine(registration) : directory.renewLease({ machineId, bootId }));
    return 'leader';
  } catch (error) {
    lease.published = false;
    const code = error instanceof Failure ? error.code : undefined;
    if (code === 'machine.lease-held' || code === 'machine.lease-lost') return 'standby';
    options.logger.warn({ error: toNotice(error) }, 'the gateway could not be registered');
    return lease.state;
  }
}

async function release({ directory, toRegistration }: RegistrationOptions, lease: Lease): Promise<void> {
  if (lease.state !== 'leader') return;
  const { machineId, bootId } = toRegistration();
  await directory.releaseLease({ machineId, bootId }).catch(() => undefined);
}
