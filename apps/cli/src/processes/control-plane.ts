// control-plane.ts: all services but the tool worker in one process, for one machine. In a cluster each has its own.
import { ConfigError } from '@holdfast/config';
import { startHistoryStore } from '@holdfast/history-store';
import { startLlmWorker } from '@holdfast/llm-worker';
import { startMcpGateway } from '@holdfast/mcp-gateway';
import { startOrchestrator } from '@holdfast/orchestrator';
import { startSessionApi } from '@holdfast/session-api';
import { runUntilStopped } from '@holdfast/temporal-runtime';

const stopLimitMs = 8_000;
const { env } = process;

try {
  const history = await startHistoryStore(env);
  const { store } = history;
  const others = [
    startSessionApi(env, { store }),
    startLlmWorker(env, { store }),
    startOrchestrator(env),
    startMcpGateway(env),
  ];
  const services = [history, ...(await Promise.all(others))];
  await runUntilStopped(services, { parentPipe: env['HOLDFAST_PARENT_PIPE'] === '1', stopLimitMs });
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`control-plane: ${error.message}\n`);
  process.exit(2);
}
