import { Failure } from '@holdfast/failures';
import type { MachineRegistration } from '@holdfast/protocol';
import { describe, expect, onTestFinished, test } from 'vitest';
import { keepLease } from '../src/lease.ts';
import { silent } from './machines.ts';

const registration: MachineRegistration = {
  machineId: 'm',
  bootId: 'new',
  kind: 'machine',
  name: 'test',
  catalog: { digest: 'd', tools: [] },
  capabilities: { platform: 'p', arch: 'a', hostname: 'h', workspace: '/', protocol: 1 },
};

/** A store in which `holder` has the lease. */
function createDirectory(holder: string | undefined) {
  const log: string[] = [];
  const state = { holder, away: 0 };
  const answer = async (line: string, work: () => void) => {
    await Promise.resolve();
    log.push(line);
    if (state.away > 0) {
      state.away -= 1;
      throw new Failure('store.unavailable');
    }
    work();
    return { leaseMs: 15_000 };
  };
  const store = {
    registerMachine: ({ bootId, replaces }: MachineRegistration) =>
      answer(`register ${replaces ?? '-'}`, () => {
        if (state.holder !== undefined && state.holder !== replaces) throw new Failure('machine.lease-held');
        state.holder = bootId;
      }),
    renewLease: ({ bootId }: { bootId: string }) =>
      answer('renew', () => {
        if (state.holder !== bootId) throw new Failure('machine.lease-lost');
      }),
    releaseLease: async () => void (await answer('release', () => (state.holder = undefined))),
  };
  return { store, state, log };
}

function keep(directory: ReturnType<typeof createDirectory>, earlierBoots: string[] = []) {
  const confirmed: string[] = [];
  const machine = { registration, earlierBoots, confirmBoot: () => void confirmed.push('confirmed') };
  const lease = keepLease({ store: directory.store, machine, logger: silent });
  onTestFinished(() => lease.release());
  return { lease, confirmed };
}

describe('the lease of a machine', () => {
  test('is taken as soon as the store answers, and given back', async () => {
    const directory = createDirectory(undefined);
    directory.state.away = 2;
    const { lease, confirmed } = keep(directory);
    expect(lease.isHeld()).toBe(false);
    await lease.held;
    expect([lease.isHeld(), confirmed]).toEqual([true, ['confirmed']]);
    await lease.release();
    expect([lease.isHeld(), directory.state.holder]).toEqual([false, undefined]);
    expect(directory.log).toEqual(['register -', 'register -', 'register -', 'release']);
  });

  test('is taken over from whichever dead boot of this machine still has it', async () => {
    const directory = createDirectory('older');
    const { lease } = keep(directory, ['newer', 'older']);
    await lease.held;
    expect(directory.log).toEqual(['register newer', 'register older']);
  });

  test('of somebody else is not waited for', async () => {
    const { lease, confirmed } = keep(createDirectory('stranger'), ['older']);
    expect([await lease.lost, confirmed]).toEqual([new Failure('machine.lease-held'), []]);
  });
});
