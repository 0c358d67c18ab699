import { describe, expect, test } from 'vitest';
import { callTool, everythingServer, startGateway, testServer, toAnswer, toStdioServer } from './gateways.ts';

const toNames = (catalog: { tools: { name: string }[] }) => catalog.tools.map((tool) => tool.name);

describe('a gateway over local servers', () => {
  test('offers the tools of a server with their schema, effects and placement', async () => {
    const gateway = await startGateway({
      everything: toStdioServer(everythingServer, { enabledTools: ['echo', 'gzip-file-as-resource'] }),
    });
    const [echo, gzip, ...others] = gateway.catalog().tools;
    expect(echo).toEqual({
      name: 'mcp__everything__echo',
      description: 'Echoes back the input string',
      placement: 'gateway',
      effects: 'read',
      supportsParallel: false,
      form: {
        kind: 'function',
        parameters: {
          type: 'object',
          properties: { message: { type: 'string', description: 'Message to echo' } },
          required: ['message'],
        },
      },
    });
    expect([gzip?.name, gzip?.effects, others]).toEqual([
      'mcp__everything__gzip_file_as_resource',
      'execute',
      [],
    ]);
  });

  test('calls a tool by its raw name', async () => {
    const gateway = await startGateway({
      everything: toStdioServer(everythingServer, { enabledTools: ['get-sum'] }),
    });
    const { outcome } = await callTool(gateway, 'mcp__everything__get_sum', { arguments: { a: 2, b: 3 } });
    expect(outcome).toEqual(toAnswer('The sum of 2 and 3 is 5.'));
  });

  test('gives a local server the variables of its configuration and none of the secrets around it', async () => {
    process.env['HOLDFAST_TEST_SECRET'] = 'hidden';
    const gateway = await startGateway({
      everything: toStdioServer(everythingServer, { env: { SHOWN: 'yes' }, enabledTools: ['get-env'] }),
    });
    delete process.env['HOLDFAST_TEST_SECRET'];
    const { outcome } = await callTool(gateway, 'mcp__everything__get_env');
    const text =
      outcome.kind === 'answered' && outcome.answer.content[0]?.type === 'text'
        ? outcome.answer.content[0].text
        : '{}';
    const seen = JSON.parse(text) as Record<string, string>;
    expect([seen['SHOWN'], seen['HOLDFAST_TEST_SECRET'], seen['HOME']]).toEqual([
      'yes',
      undefined,
      process.env['HOME'],
    ]);
  });

  test('hands on every progress note, also one that comes together with the result', async () => {
    const gateway = await startGateway({ test: toStdioServer(testServer) });
    for (let round = 0; round < 20; round += 1) {
      expect(await callTool(gateway, 'mcp__test__count_notes')).toEqual({
        outcome: toAnswer('two notes'),
        notes: [
          { progress: 1, total: 2, message: 'first' },
          { progress: 2, total: 2, message: 'second' },
        ],
      });
    }
  });

  test('tells the server when a call is cancelled', async () => {
    const gateway = await startGateway({ test: toStdioServer(testServer) });
    const stop = new AbortController();
    const waiting = callTool(gateway, 'mcp__test__wait', {
      signal: stop.signal,
      onProgress: () => stop.abort(new Error('stop')),
    });
    await expect(waiting).rejects.toThrow('stop');
    const { outcome } = await callTool(gateway, 'mcp__test__wait_for_cancel');
    expect(outcome).toEqual(toAnswer('the other call was cancelled'));
  });

  test('gives a call that takes too long an end', async () => {
    const gateway = await startGateway({ test: toStdioServer(testServer, { toolTimeoutSec: 0.2 }) });
    const { outcome } = await callTool(gateway, 'mcp__test__wait');
    expect(outcome).toEqual({ kind: 'timed-out', limitMs: 200 });
  });

  test('connects a server again that was killed in the middle of a call', async () => {
    const gateway = await startGateway({ test: toStdioServer(testServer) });
    const before = gateway.catalog();
    const { outcome } = await callTool(gateway, 'mcp__test__die');
    expect(outcome).toEqual({ kind: 'lost', reason: 'its process ended (SIGKILL)' });
    expect(gateway.catalog()).toEqual(before);
    const again = await callTool(gateway, 'mcp__test__repeat', { arguments: { word: 'ab', times: 2 } });
    expect(again.outcome).toEqual(toAnswer('abab'));
  });

  test('publishes a tool that a server adds later', async () => {
    const gateway = await startGateway({ test: toStdioServer(testServer) });
    expect(toNames(gateway.catalog())).not.toContain('mcp__test__grown');
    const before = gateway.catalog().digest;
    await callTool(gateway, 'mcp__test__grow');
    const after = await gateway.waitFor((catalog) => toNames(catalog).includes('mcp__test__grown'));
    expect(after.digest).not.toBe(before);
    expect((await callTool(gateway, 'mcp__test__grown')).outcome).toEqual(toAnswer('grown'));
  });

  test('says that a server asked for what only a person could give', async () => {
    const gateway = await startGateway({ test: toStdioServer(testServer) });
    const { outcome } = await callTool(gateway, 'mcp__test__ask_person');
    expect(outcome).toEqual({ kind: 'needs-client', request: 'elicitation/create' });
  });

  test('goes on with the other servers when one cannot be started', async () => {
    const gateway = await startGateway({
      gone: { command: 'no-such-program' },
      broken: toStdioServer('/no/such/file.js'),
      mute: { command: 'sleep', args: ['1000'], startupTimeoutSec: 0.2 },
      test: toStdioServer(testServer, { enabledTools: ['fail'] }),
    });
    expect(toNames(gateway.catalog())).toEqual(['mcp__test__fail']);
    expect(gateway.find('mcp__gone__any')).toEqual({
      kind: 'server-away',
      server: 'gone',
      reason: 'there is no program no-such-program',
    });
    expect(gateway.find('mcp__broken__any')).toEqual({
      kind: 'server-away',
      server: 'broken',
      reason: 'its process ended (exit code 1)',
    });
    expect(gateway.find('mcp__mute__any')).toEqual({
      kind: 'server-away',
      server: 'mute',
      reason: 'it did not answer in time',
    });
    expect(gateway.find('mcp__other__any')).toEqual({ kind: 'unknown' });
    expect(gateway.find('exec_command')).toEqual({ kind: 'unknown' });
  });

  test('has the same catalog for the same configuration, whichever server answers first', async () => {
    const first = await startGateway({ a: toStdioServer(testServer), 'a-b': toStdioServer(testServer) });
    const second = await startGateway({ 'a-b': toStdioServer(testServer), a: toStdioServer(testServer) });
    expect(second.catalog()).toEqual(first.catalog());
  });
});
