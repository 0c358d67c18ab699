import { describe, expect, test } from 'vitest';
import { toSdkLogger } from '../src/connection.ts';

function record() {
  const lines: string[] = [];
  const at = (level: string) => (fields: object, message: string) =>
    lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  return { lines, sdk: toSdkLogger(logger) };
}

describe('the log of the SDK', () => {
  test('keeps warnings and errors with their fields, and is quiet otherwise', () => {
    const { lines, sdk } = record();
    sdk.info('started', { taskQueue: 'llm' });
    sdk.warn('slow', { taskQueue: 'llm' });
    sdk.error('lost');
    sdk.log('ERROR', 'broken');
    expect(lines).toEqual([
      'debug started {"sdk":true,"taskQueue":"llm"}',
      'warn slow {"sdk":true,"taskQueue":"llm"}',
      'error lost {"sdk":true}',
      'error broken {"sdk":true}',
    ]);
  });

  test.each([
    'No workflows registered, not polling for workflow tasks',
    'No activities registered, not polling for activity tasks',
  ])('does not warn of what is meant to be so: %s', (message) => {
    const { lines, sdk } = record();
    sdk.warn(message);
    expect(lines).toEqual([`debug ${message} {"sdk":true}`]);
  });
});
