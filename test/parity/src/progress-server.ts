// A real MCP server over stdio with one tool that reports progress twice before it answers.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

serveStdio(() => {
  const server = new McpServer({ name: 'progress', version: '1.0.0' });
  const description = 'Counts to two, aloud.';
  server.registerTool('count', { description, annotations: { readOnlyHint: true } }, async (context) => {
    const { _meta: meta } = context.mcpReq;
    for (const progress of [1, 2]) {
      const params = { progressToken: meta?.progressToken ?? '', progress, total: 2 };
      await context.mcpReq.notify({ method: 'notifications/progress', params });
    }
    return { content: [{ type: 'text', text: 'two' }] };
  });
  return server;
});
