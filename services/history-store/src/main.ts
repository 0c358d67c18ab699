import { ConfigError } from '@holdfast/config';
import { runUntilStopped } from '@holdfast/temporal-runtime';
import { startHistoryStore } from './service.ts';

const stopLimitMs = 15_000;

try {
  const service = await startHistoryStore(process.env);
  await runUntilStopped([service], { parentPipe: process.env['HOLDFAST_PARENT_PIPE'] === '1', stopLimitMs });
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`history-store: ${error.message}\n`);
  process.exit(2);
}
