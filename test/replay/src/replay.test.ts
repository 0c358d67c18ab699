import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { workflowsPath } from '@holdfast/orchestrator';
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker, type WorkflowBundle } from '@temporalio/worker';
import { beforeAll, describe, expect, test } from 'vitest';

const folder = fileURLToPath(new URL('../histories/', import.meta.url));
const names = readdirSync(folder).filter((name) => name.endsWith('.json'));

/** How large the bundle may be: everything in it is parsed for every cached session's context. */
const bundleLimitBytes = 2_500_000;
/** Only ever needed outside the sandbox. */
const banned = ['node:fs', 'zod/v4', '@nats-io', 'fastify'];

let workflowBundle: WorkflowBundle;
beforeAll(async () => {
  const logger = new DefaultLogger('ERROR');
  Runtime.install({ logger });
  workflowBundle = await bundleWorkflowCode({ workflowsPath, logger });
});

describe('kept histories', () => {
  test('exist', () => {
    expect(names.length).toBeGreaterThanOrEqual(5);
  });

  test.each(names)('%s replays on the present workflow code', async (name) => {
    const history: unknown = JSON.parse(readFileSync(`${folder}${name}`, 'utf8'));
    await expect(
      Worker.runReplayHistory({ workflowBundle }, history, `session-${name}`),
    ).resolves.toBeUndefined();
  });

  test('do not replay on code that decides otherwise', async () => {
    const code = workflowBundle.code
      .replaceAll("'sealTurn'", "'sealTurnOtherwise'")
      .replaceAll('.sealTurn(', '.noteWaiting(');
    expect(code).not.toBe(workflowBundle.code);
    const history: unknown = JSON.parse(readFileSync(`${folder}one-turn.json`, 'utf8'));
    const replay = Worker.runReplayHistory({ workflowBundle: { code } }, history, 'session-planted');
    await expect(replay).rejects.toThrow(/[Nn]ondeterminism|TMPRL1100/);
  });
});

describe('the workflow bundle', () => {
  test('stays small', () => {
    expect(workflowBundle.code.length).toBeLessThan(bundleLimitBytes);
  });

  test.each(banned)('does not contain %s', (name) => {
    expect(workflowBundle.code).not.toContain(name);
  });
});
