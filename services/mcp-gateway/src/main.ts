import { ConfigError } from '@holdfast/config';
import { runUntilStopped } from '@holdfast/temporal-runtime';
import { startMcpGateway } from './service.ts';

try {
  const service = await startMcpGateway(process.env);
  await runUntilStopped([service], {
    parentPipe: process.env['HOLDFAST_PARENT_PIPE'] === '1',
    stopLimitMs: 10_000,
  });
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`mcp-gateway: ${error.message}\n`);
  process.exit(2);
}
