import type { Reply } from '@holdfast/model-script';
import { describe, expect, test } from 'vitest';
import { machineCatalog, startHarness } from './harness.ts';
import { toRequest } from './recording-store.ts';

const never = new AbortController().signal;
const command = { name: 'exec_command', arguments: { cmd: 'true' } };
const patch = { name: 'apply_patch', arguments: '*** Begin Patch\n*** End Patch' };

async function announcedBy(output: Reply['output']) {
  await using harness = await startHarness({ replies: [{ output }], catalogs: [machineCatalog] });
  const reply = await harness.streamer.sample(toRequest(), never);
  const callIds = reply.kind === 'reply' ? reply.calls.map(({ callId }) => callId) : [];
  return { callIds, announced: harness.announced };
}

describe('a committed reply announces to the machine of the session', () => {
  test('the parallel calls that are dispatched first, together', async () => {
    const { callIds, announced } = await announcedBy([{ call: command }, { call: command }, { call: patch }]);
    expect(announced).toEqual([{ machineId: 'm1', callIds: callIds.slice(0, 2) }]);
  });

  test('an exclusive call alone', async () => {
    const { callIds, announced } = await announcedBy([{ call: patch }, { call: command }]);
    expect(announced).toEqual([{ machineId: 'm1', callIds: callIds.slice(0, 1) }]);
  });

  test('nothing when it has no calls', async () => {
    expect((await announcedBy([{ text: 'done' }])).announced).toEqual([]);
  });
});

test('a reply that another attempt had committed is not announced again', async () => {
  await using harness = await startHarness({
    replies: [{ output: [{ call: command }] }],
    catalogs: [machineCatalog],
  });
  await harness.streamer.sample(toRequest(), never);
  await harness.streamer.sample(toRequest(), never);
  expect(harness.announced.length).toBe(1);
});
