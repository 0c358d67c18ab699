import { ConfigError } from '@holdfast/config';
import { runUntilStopped } from '@holdfast/temporal-runtime';
import { startLlmWorker } from './service.ts';

/** The grace of running model calls (HOLDFAST_LLM_SHUTDOWN_GRACE_MS, 30 s unless set) and time to close. */
const stopLimitMs = Number(process.env['HOLDFAST_LLM_SHUTDOWN_GRACE_MS'] || 30_000) + 10_000;

try {
  const service = await startLlmWorker(process.env);
  await runUntilStopped([service], { parentPipe: process.env['HOLDFAST_PARENT_PIPE'] === '1', stopLimitMs });
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`llm-worker: ${error.message}\n`);
  process.exit(2);
}
