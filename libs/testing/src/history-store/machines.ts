import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { toCode, toRegistration, toTestCatalog, toUniqueName, type StoreUnderTest } from './scenario.ts';

export function describeMachines(subject: () => StoreUnderTest): void {
  const findMachine = async (machineId: string) => {
    const machines = await subject().store.listMachines();
    return machines.find((machine) => machine.machineId === machineId);
  };

  describe('machines', () => {
    test('are online while a boot holds the lease', async () => {
      const { store } = subject();
      const { replaces: _, catalog, ...identity } = toRegistration({ name: toUniqueName('laptop') });
      expect(await store.registerMachine({ ...identity, catalog })).toEqual({ leaseMs: 15_000 });
      const listed = { ...identity, lastSeenAt: expect.any(String), tools: ['exec_command'] };
      expect(await findMachine(identity.machineId)).toEqual({ ...listed, online: true });
      expect(await store.renewLease(identity)).toEqual({ leaseMs: 15_000 });
      await store.releaseLease(identity);
      await store.releaseLease(identity);
      expect(await findMachine(identity.machineId)).toEqual({ ...listed, online: false });
      expect(await store.renewLease(identity)).toEqual({ leaseMs: 15_000 });
      expect(await findMachine(identity.machineId)).toEqual({ ...listed, online: true });
    });

    test('belong to one boot; another gets them only when it knows that the first one is dead', async () => {
      const { store } = subject();
      const first = toRegistration({ name: toUniqueName('laptop') });
      const second = { ...first, bootId: 'boot-2' };
      await store.registerMachine(first);
      await store.registerMachine(first);
      expect(await toCode(store.registerMachine(second))).toBe('machine.lease-held');
      expect(await toCode(store.registerMachine({ ...second, replaces: 'boot-0' }))).toBe(
        'machine.lease-held',
      );
      await store.registerMachine({ ...second, replaces: 'boot-1' });
      expect(await toCode(store.renewLease(first))).toBe('machine.lease-lost');
      await store.releaseLease(first);
      expect(await findMachine(first.machineId)).toMatchObject({ bootId: 'boot-2', online: true });
      expect(await toCode(store.renewLease({ machineId: toUniqueName('nobody'), bootId: 'b' }))).toBe(
        'machine.lease-lost',
      );
    });

    test('have names of their own; the name of one that is gone goes to the newcomer', async () => {
      const { store } = subject();
      const old = toRegistration({ name: toUniqueName('laptop') });
      const fresh = { ...old, machineId: toUniqueName('id') };
      await store.registerMachine(old);
      expect(await toCode(store.registerMachine(fresh))).toBe('machine.lease-held');
      await store.releaseLease(old);
      await store.registerMachine(fresh);
      expect(await findMachine(fresh.machineId)).toMatchObject({ name: old.name, online: true });
      const renamed = await findMachine(old.machineId);
      expect(renamed?.name).toMatch(new RegExp(`^${old.name}-[0-9a-f]{4}$`));
    });

    test('are offline and free for another boot when the lease ran out', async () => {
      const { store, expireLeases } = subject();
      if (!expireLeases) return;
      const first = toRegistration({ name: toUniqueName('laptop') });
      await store.registerMachine(first);
      await expireLeases();
      expect(await findMachine(first.machineId)).toMatchObject({ online: false });
      await store.registerMachine({ ...first, bootId: 'boot-2' });
      expect(await findMachine(first.machineId)).toMatchObject({ bootId: 'boot-2', online: true });
    });

    test('bring the catalog they registered last', async () => {
      const { store } = subject();
      const catalog = toTestCatalog(toUniqueName('tool'));
      const machine = toRegistration({ name: toUniqueName('laptop') });
      await store.registerMachine(machine);
      await store.registerMachine({ ...machine, catalog });
      expect(await store.readCatalog({ digest: catalog.digest })).toEqual(catalog);
      expect(await findMachine(machine.machineId)).toMatchObject({
        tools: catalog.tools.map((tool) => tool.name),
      });
      expect(await toCode(store.readCatalog({ digest: '0'.repeat(64) }))).toBe('catalog.unknown');
    });
  });

  describe('blobs', () => {
    test('are kept under their digest, byte for byte', async () => {
      const { store } = subject();
      const bytes = new Uint8Array(200_000).map((_, index) => (index * 7) % 256);
      const digest = createHash('sha256').update(bytes).digest('hex');
      expect(await store.putBlob({ bytes, mediaType: 'text/plain' })).toEqual({ digest, size: 200_000 });
      expect(await store.putBlob({ bytes, mediaType: 'text/plain' })).toEqual({ digest, size: 200_000 });
      expect(await store.readBlob({ digest })).toEqual({ bytes, mediaType: 'text/plain' });
    });

    test('that nobody put are blob.unknown', async () => {
      expect(await toCode(subject().store.readBlob({ digest: 'f'.repeat(64) }))).toBe('blob.unknown');
    });
  });
}
