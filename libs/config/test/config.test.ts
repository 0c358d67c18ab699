import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ConfigError, createSecretBox, parseEnvironment, portSchema, toMasked } from '../src/index.ts';

describe('the environment', () => {
  const schema = z.object({ HOLDFAST_PORT: portSchema, HOLDFAST_NAME: z.string() });

  test('is parsed into values, empty variables being unset', () => {
    expect(parseEnvironment(schema, { HOLDFAST_PORT: '80', HOLDFAST_NAME: 'a', OTHER: '' })).toEqual({
      HOLDFAST_PORT: 80,
      HOLDFAST_NAME: 'a',
    });
  });

  test('names the variable that is missing', () => {
    const parse = () => parseEnvironment(schema, { HOLDFAST_PORT: '80', HOLDFAST_NAME: '' });
    expect(parse).toThrow(new ConfigError('HOLDFAST_NAME is not set; set it and start again.'));
  });

  test('names the variable that is wrong', () => {
    expect(() => parseEnvironment(schema, { HOLDFAST_PORT: '70000', HOLDFAST_NAME: 'a' })).toThrow(
      /^HOLDFAST_PORT is not valid: /,
    );
  });

  test('is printed without secrets and without passwords in addresses', () => {
    expect(
      toMasked({ OPENAI_API_KEY: 'sk-1', DATABASE_URL: 'postgres://me:pw@host/db', HOLDFAST_PORT: 80 }),
    ).toEqual({
      OPENAI_API_KEY: '***',
      DATABASE_URL: 'postgres://***@host/db',
      HOLDFAST_PORT: 80,
    });
  });
});

describe('a secret box', () => {
  test('opens what it sealed and never seals the same way twice', () => {
    const box = createSecretBox('key');
    expect(box.open(box.seal('sk-üñí'))).toBe('sk-üñí');
    expect(box.seal('a')).not.toBe(box.seal('a'));
  });

  test('refuses what was changed or sealed with another key', () => {
    const sealed = createSecretBox('key').seal('sk-1');
    expect(() => createSecretBox('other').open(sealed)).toThrow(/authenticate/);
    const changed = sealed.slice(0, -2) + (sealed.endsWith('A') ? 'BB' : 'AA');
    expect(() => createSecretBox('key').open(changed)).toThrow(/authenticate/);
  });
});
