import { ConfigError } from '@holdfast/config';
import { Failure } from '@holdfast/failures';
import { runUntilStopped } from '@holdfast/temporal-runtime';
import { startToolWorker } from './service.ts';

const stopLimitMs = 15_000;

function exit(error: Error, code: 1 | 2): never {
  process.stderr.write(`tool-worker: ${error.message}\n`);
  process.exit(code);
}

try {
  const service = await startToolWorker(process.env);
  void service.lost.then(async (failure) => {
    setTimeout(() => exit(failure, 1), stopLimitMs).unref();
    await service.stop();
    exit(failure, 1);
  });
  await runUntilStopped([service], { parentPipe: process.env['HOLDFAST_PARENT_PIPE'] === '1', stopLimitMs });
} catch (error) {
  if (error instanceof ConfigError) exit(error, 2);
  if (error instanceof Failure) exit(error, 1);
  throw error;
}
