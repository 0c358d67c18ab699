// The tools of the servers that the tests start: one tool for each thing that a server may do to a gateway.
import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

export function createTestServer(options: { grown?: boolean } = {}): McpServer {
  const server = new McpServer(
    { name: 'test-server', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  );
  addAnswers(server);
  addTroubles(server);
  if (options.grown) addGrown(server);
  return server;
}

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });

function addAnswers(server: McpServer): void {
  server.registerTool(
    'count-notes',
    {
      description: 'Reports two notes, the last one together with the result.',
      annotations: { readOnlyHint: true },
    },
    async (context) => {
      const { _meta: meta } = context.mcpReq;
      const progressToken = meta?.progressToken;
      if (progressToken === undefined) return text('nobody asked for progress');
      const notes = [
        { progress: 1, total: 2, message: 'first' },
        { progress: 2, total: 2, message: 'second' },
      ];
      const sent = notes.map((note) =>
        context.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...note } }),
      );
      await Promise.all(sent);
      return text('two notes');
    },
  );
  server.registerTool(
    'repeat',
    { inputSchema: z.object({ word: z.string(), times: z.number() }) },
    ({ word, times }) => text(word.repeat(times)),
  );
  server.registerTool('grow', {}, () => {
    addGrown(server);
    return text('there is a new tool');
  });
}

function addGrown(server: McpServer): void {
  server.registerTool('grown', { annotations: { readOnlyHint: true } }, () => text('grown'));
}

function addTroubles(server: McpServer): void {
  const cancelled = Promise.withResolvers<void>();
  server.registerTool('wait', {}, async (context) => {
    const { promise, reject } = Promise.withResolvers<never>();
    const { _meta: meta } = context.mcpReq;
    const progressToken = meta?.progressToken ?? '';
    await context.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 0 } });
    context.mcpReq.signal.addEventListener('abort', () => {
      cancelled.resolve();
      reject(new Error('cancelled'));
    });
    return promise;
  });
  server.registerTool('wait-for-cancel', {}, async () => {
    await cancelled.promise;
    return text('the other call was cancelled');
  });
  for (const [name, readOnlyHint] of [
    ['die', false],
    ['die-reading', true],
  ] as const) {
    server.registerTool(name, { annotations: { readOnlyHint } }, () => {
      process.kill(process.pid, 'SIGKILL');
      return text('never sent');
    });
  }
  server.registerTool('fail', {}, () => ({ ...text('it went wrong'), isError: true }));
  server.registerTool('ask-for-input', {}, () =>
    inputRequired({
      inputRequests: {
        name: inputRequired.elicit({
          message: 'Your name?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
        }),
      },
    }),
  );
  server.registerTool('ask-person', {}, async () => {
    // Without asking whether the client can do it, as a careless server does.
    await server.server.request({
      method: 'elicitation/create',
      params: { message: 'Your name?', requestedSchema: { type: 'object', properties: {} } },
    });
    return text('never sent');
  });
}
