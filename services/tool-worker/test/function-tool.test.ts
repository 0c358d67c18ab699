import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineFunctionTool, plainText } from '../src/function-tool.ts';
import { createFolder } from './folders.ts';

function defineProbe() {
  const folder = createFolder();
  writeFileSync(join(folder, 'description.md'), '\nProbes.\n');
  return defineFunctionTool({
    name: 'probe',
    folder: pathToFileURL(join(folder, 'spec.ts')).href,
    input: z.object({
      path: plainText.describe('Where.'),
      count: z.int('must be a whole number').min(1, 'must be at least 1').default(5),
      inner: z.object({ deep: z.boolean().default(true) }).optional(),
    }),
    example: { path: 'a' },
    effects: 'read',
    profiles: ['files'],
  });
}

describe('a function tool', () => {
  test('tells the model its description and a closed schema in which only what is needed is required', () => {
    expect(defineProbe().spec).toEqual({
      name: 'probe',
      description: 'Probes.',
      placement: 'machine',
      effects: 'read',
      supportsParallel: false,
      profiles: ['files'],
      form: {
        kind: 'function',
        parameters: {
          type: 'object',
          properties: {
            path: { type: 'string', minLength: 1, description: 'Where.' },
            count: { type: 'integer', minimum: 1, default: 5 },
            inner: {
              type: 'object',
              properties: { deep: { type: 'boolean', default: true } },
              additionalProperties: false,
            },
          },
          required: ['path'],
          additionalProperties: false,
        },
      },
    });
  });

  test('takes null as left out and ignores what it does not know', () => {
    const probe = defineProbe();
    const input = '{"path":"x","count":null,"inner":{"deep":null},"more":1}';
    expect(probe.readArguments(input)).toEqual({
      kind: 'valid',
      value: { path: 'x', count: 5, inner: { deep: true } },
    });
  });

  test.each([
    ['{"path":"x","count":0}', 'count: must be at least 1'],
    ['{"path":"x","inner":{"deep":1}}', 'inner.deep: Invalid input: expected boolean, received number'],
    ['{"path":"a\\u0000"}', 'path: must not contain a NUL character'],
    ['{}', 'path: Invalid input: expected string, received undefined'],
    ['7', 'an object with the member path is needed'],
    ['null', 'an object with the member path is needed'],
    ['{"path"', "Expected ':' after property name in JSON at position 7 (line 1 column 8)"],
  ])('refuses %s with the member, the rule and a valid call', (input, reason) => {
    expect(defineProbe().readArguments(input)).toEqual({
      kind: 'refused',
      text: `failed to parse function arguments: ${reason}. A valid call: {"path":"a"}`,
    });
  });
});
