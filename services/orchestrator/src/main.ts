import { ConfigError } from '@holdfast/config';
import { runUntilStopped } from '@holdfast/temporal-runtime';
import { startOrchestrator } from './service.ts';

try {
  const service = await startOrchestrator(process.env);
  await runUntilStopped([service], {
    parentPipe: process.env['HOLDFAST_PARENT_PIPE'] === '1',
    stopLimitMs: 10_000,
  });
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`orchestrator: ${error.message}\n`);
  process.exit(2);
}
