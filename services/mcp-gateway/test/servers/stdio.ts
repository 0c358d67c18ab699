import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createTestServer } from './tools.ts';

process.stdout.write('a line that is no message\n');
serveStdio(() => createTestServer());
