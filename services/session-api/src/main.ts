import { ConfigError } from '@holdfast/config';
import { runUntilStopped } from '@holdfast/temporal-runtime';
import { startSessionApi } from './service.ts';

try {
  const service = await startSessionApi(process.env);
  const parentPipe = process.env['HOLDFAST_PARENT_PIPE'] === '1';
  await runUntilStopped([service], { parentPipe, stopLimitMs: 10_000 });
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`session-api: ${error.message}\n`);
  process.exit(2);
}
