import { Failure } from '@holdfast/failures';
import type { MachineRegistration } from '@holdfast/protocol';
import { toCatalog } from '@holdfast/store-client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { keepRegistered } from '../src/registration.ts';
import { silent } from './gateways.ts';

/** A directory with one lease; `after` resolves when so many requests were answered. */
class FakeDirectory {
  readonly requests: string[] = [];
  holder: string | undefined;
  away = false;
  readonly #waiting = new Set<() => void>();

  after(count: number): Promise<void> {
    return this.until(() => this.requests.length >= count);
  }

  /** Looks again after every answer. */
  until(condition: () => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => condition() && resolve();
    this.#waiting.add(look);
    look();
    return promise;
  }

  registerMachine(request: MachineRegistration): Promise<{ leaseMs: number }> {
    return this.#answer(`register ${request.bootId} ${request.catalog.digest.slice(0, 4)}`, () => {
      if (this.holder !== undefined && this.holder !== request.bootId)
        throw new Failure('machine.lease-held');
      this.holder = request.bootId;
    });
  }

  renewLease(request: { bootId: string }): Promise<{ leaseMs: number }> {
    return this.#answer(`renew ${request.bootId}`, () => {
      if (this.holder !== request.bootId) throw new Failure('machine.lease-lost');
    });
  }

  async releaseLease(request: { bootId: string }): Promise<void> {
    await this.#answer(`release ${request.bootId}`, () => {
      if (this.holder === request.bootId) this.holder = undefined;
    });
  }

  async #answer(request: string, work: () => void): Promise<{ leaseMs: number }> {
    await Promise.resolve();
    this.requests.push(request);
    // The caller has its answer before anybody who waits for the request goes on.
    setImmediate(() => this.#waiting.forEach((look) => look()));
    if (this.away) throw new Failure('store.unavailable');
    work();
    return { leaseMs: 15_000 };
  }
}

const catalogs = [toCatalog([]), toCatalog([{ ...toTool('a') }])];
function toTool(name: string) {
  const form = { kind: 'function' as const, parameters: {} };
  return {
    name,
    description: '',
    placement: 'gateway' as const,
    effects: 'read' as const,
    supportsParallel: false,
    form,
  };
}
const digests = catalogs.map((catalog) => catalog.digest.slice(0, 4));

function start(
  directory: FakeDirectory,
  options: { bootId: string; renewalMs?: number; catalog?: () => number },
) {
  const registration = keepRegistered({
    directory,
    logger: silent,
    renewalMs: options.renewalMs ?? 60_000,
    toRegistration: () => ({
      machineId: 'gateway-mcp',
      kind: 'gateway',
      name: 'mcp',
      bootId: options.bootId,
      catalog: catalogs[options.catalog?.() ?? 0] ?? toCatalog([]),
      capabilities: { platform: 'linux', arch: 'x64', hostname: 'host', workspace: '', protocol: 1 },
    }),
  });
  onTestFinished(() => registration.stop());
  return registration;
}

describe('the registration of a gateway', () => {
  test('is renewed, and given back at the end', async () => {
    const directory = new FakeDirectory();
    const registration = start(directory, { bootId: 'a', renewalMs: 1 });
    await directory.after(3);
    expect(registration.state()).toBe('leader');
    await registration.stop();
    expect(directory.requests.slice(0, 3)).toEqual([`register a ${digests[0]}`, 'renew a', 'renew a']);
    expect([directory.requests.at(-1), directory.holder]).toEqual(['release a', undefined]);
  });

  test('publishes a changed catalog at once, by the same boot', async () => {
    const directory = new FakeDirectory();
    let catalog = 0;
    const registration = start(directory, { bootId: 'a', catalog: () => catalog });
    await directory.after(1);
    catalog = 1;
    registration.changed();
    await directory.after(2);
    expect(directory.requests).toEqual([`register a ${digests[0]}`, `register a ${digests[1]}`]);
  });

  test('stands by while another gateway of the group holds the lease, and takes over when that ends', async () => {
    const directory = new FakeDirectory();
    const first = start(directory, { bootId: 'a' });
    await directory.after(1);
    const second = start(directory, { bootId: 'b', renewalMs: 1 });
    await directory.after(2);
    expect([first.state(), second.state()]).toEqual(['leader', 'standby']);
    await first.stop();
    await directory.until(() => second.state() === 'leader');
    expect(directory.holder).toBe('b');
  });

  test('goes on trying while the directory is away, and again after it lost the lease', async () => {
    const directory = new FakeDirectory();
    directory.away = true;
    const registration = start(directory, { bootId: 'a', renewalMs: 1 });
    await directory.after(2);
    expect(registration.state()).toBe('away');
    directory.away = false;
    await directory.until(() => registration.state() === 'leader');
    directory.holder = undefined;
    await directory.until(() => directory.holder === 'a' && registration.state() === 'leader');
    expect(directory.requests.filter((request) => request.startsWith('register a')).length).toBeGreaterThan(
      2,
    );
  });
});
