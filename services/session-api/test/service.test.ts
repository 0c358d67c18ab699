import { ConfigError } from '@holdfast/config';
import { describe, expect, test } from 'vitest';
import { readConfig, toTuning } from '../src/config.ts';
import { startSessionApi } from '../src/index.ts';

/** Addresses at which nobody listens. */
const env = {
  TEMPORAL_ADDRESS: '127.0.0.1:1',
  NATS_URL: 'nats://127.0.0.1:1',
  HOLDFAST_STORE_URL: 'http://127.0.0.1:1',
  HOLDFAST_INTERNAL_TOKEN: 'internal-token-of-the-test',
  HOLDFAST_API_TOKEN: 'api-token-of-the-test',
  HOLDFAST_SECRET_KEY: 'secret-key-of-the-test',
  HOLDFAST_LOG_LEVEL: 'silent',
};

describe('the session-api as a service', () => {
  test('starts while everything else is away, says that it is not ready, and stops', async () => {
    const service = await startSessionApi(env);
    const live = await fetch(`http://127.0.0.1:${service.port}/livez`);
    const ready = await fetch(`http://127.0.0.1:${service.port}/readyz`);
    expect([live.status, ready.status]).toEqual([200, 503]);
    expect(await ready.json()).toEqual({
      status: 'not ready',
      reason: 'the history store cannot be reached',
    });
    await service.stop();
  });

  test('takes the tuning of sessions from its environment', () => {
    expect(toTuning(readConfig(env))).toEqual({
      heartbeatTimeoutMs: 15_000,
      machineWaitMs: 15_000,
      stepsPerRun: 250,
    });
    const tuned = {
      HOLDFAST_HEARTBEAT_TIMEOUT_MS: '3000',
      HOLDFAST_MACHINE_WAIT_MS: '2000',
      HOLDFAST_STEPS_PER_RUN: '3',
    };
    expect(toTuning(readConfig({ ...env, ...tuned }))).toEqual({
      heartbeatTimeoutMs: 3_000,
      machineWaitMs: 2_000,
      stepsPerRun: 3,
    });
  });

  test('names the variable that is missing or wrong', () => {
    expect(() => readConfig({ ...env, HOLDFAST_API_TOKEN: '' })).toThrow(
      new ConfigError('HOLDFAST_API_TOKEN is not set; set it and start again.'),
    );
    expect(() => readConfig({ ...env, HOLDFAST_SECRET_KEY: 'short' })).toThrow(
      new ConfigError('HOLDFAST_SECRET_KEY is not valid: must have at least 16 characters.'),
    );
  });
});
