import type { Catalog, ToolProfile, ToolSpec } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import { createToolboxReader } from '../src/domain/toolbox.ts';
import { gatewayCatalog, machineCatalog, startHarness } from './harness.ts';
import { RecordingStore, toRequest } from './recording-store.ts';

const toSpec = (name: string, given: Partial<ToolSpec> = {}): ToolSpec => ({
  name,
  description: `${name} of the test`,
  placement: 'machine',
  effects: 'read',
  supportsParallel: true,
  form: { kind: 'function', parameters: { type: 'object' } },
  ...given,
});
const catalog: Catalog = {
  digest: 'c'.repeat(64),
  tools: [
    toSpec('read_file', { profiles: ['files'] }),
    toSpec('view_image', { profiles: ['codex', 'files'] }),
    toSpec('exec_command'),
    toSpec('wait', { placement: 'workflow' }),
  ],
};
const never = new AbortController().signal;

function openReader() {
  const store = new RecordingStore({ catalogs: [catalog, gatewayCatalog] });
  const read = createToolboxReader(store);
  const catalogs = store.catalogs.map(({ digest }) => digest);
  const toNames = async (profile: ToolProfile, hosted: string[] = []) =>
    (await read({ catalogs, profile, hosted })).tools.map((tool) => ('name' in tool ? tool.name : tool.type));
  return { store, read, catalogs, toNames };
}

describe('the tools that a model is offered', () => {
  test('are those of its profile, ordered by who runs them and by name', async () => {
    const { toNames } = openReader();
    expect(await toNames('codex')).toEqual(['exec_command', 'view_image', 'wait', 'Alpha__first']);
    expect(await toNames('files')).toEqual([
      'exec_command',
      'read_file',
      'view_image',
      'wait',
      'Alpha__first',
    ]);
    expect(await toNames('minimal')).toEqual(['exec_command', 'wait', 'Alpha__first']);
  });

  test('hold the search of the provider where the provider has one and the profile wants it', async () => {
    const { toNames } = openReader();
    expect((await toNames('codex', ['web_search'])).at(-1)).toBe('web_search');
    expect(await toNames('minimal', ['web_search'])).not.toContain('web_search');
  });

  test('are the same objects each time, so that they are made once', async () => {
    const { read, catalogs, store } = openReader();
    const request = { catalogs, profile: 'codex', hosted: [] } as const;
    expect(await read(request)).toBe(await read(request));
    expect(store.catalogReads).toEqual(catalogs);
  });

  test('do not limit which tool may be called', async () => {
    const { read, catalogs } = openReader();
    const { specs } = await read({ catalogs, profile: 'minimal', hosted: [] });
    expect(specs.get('read_file')?.placement).toBe('machine');
  });

  test('follow the settings of the session into the request', async () => {
    for (const [model, names] of [
      [{}, ['exec_command', 'view_image', 'wait', 'Alpha__first']],
      [{ tools: 'minimal' }, ['exec_command', 'wait', 'Alpha__first']],
    ] as const) {
      await using harness = await startHarness({
        replies: [{ output: [{ text: 'x' }] }],
        catalogs: [catalog, gatewayCatalog],
        model,
      });
      await harness.streamer.sample(toRequest(), never);
      expect(harness.server.requests[0]?.body).toMatchObject({ tools: names.map((name) => ({ name })) });
    }
  });
});

describe('a call', () => {
  test.each([
    ['a function', { call: { name: 'exec_command', arguments: {} } }, ['exec_command', 'machine', true]],
    ['a freeform tool', { custom: { name: 'apply_patch', input: 'x' } }, ['apply_patch', 'machine', false]],
    [
      'a namespace and a name',
      { call: { namespace: 'Alpha', name: 'first', arguments: {} } },
      ['Alpha__first', 'gateway', true],
    ],
    [
      'the two in one name',
      { call: { name: 'Alpha__first', arguments: {} } },
      ['Alpha__first', 'gateway', true],
    ],
    [
      'a name that nobody knows',
      { call: { name: 'nothing', arguments: {} } },
      ['nothing', 'workflow', false],
    ],
    [
      'a namespace that nobody knows',
      { call: { namespace: 'no', name: 'first', arguments: {} } },
      ['no__first', 'workflow', false],
    ],
    [
      'a search that the provider does not run',
      { call: { name: 'web_search', arguments: {} } },
      ['web_search', 'workflow', false],
    ],
  ])('by %s is sent to where it runs', async (_form, part, [tool, placement, parallel]) => {
    await using harness = await startHarness({
      replies: [{ output: [part] }],
      catalogs: [machineCatalog, gatewayCatalog],
    });
    expect(await harness.streamer.sample(toRequest(), never)).toMatchObject({
      calls: [{ tool, placement, parallel }],
    });
  });
});
