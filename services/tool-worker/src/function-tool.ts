// function-tool.ts: the one way to declare a tool that takes a JSON object: what the model is told of it, and how its arguments are read.
import { readFileSync } from 'node:fs';
import type { Effects, ToolProfile, ToolSpec } from '@holdfast/protocol';
import { z } from 'zod';

export type FunctionToolDefinition<Schema extends z.ZodObject> = {
  name: string;
  /** The folder of the tool, as `import.meta.url`; the text for the model is `description.md` in it. */
  folder: string;
  /** Members are described for the model; the ones that may be left out are optional or have a default. */
  input: Schema;
  /** Shown to a model whose arguments cannot be used. */
  example: z.input<Schema>;
  effects: Effects;
  /** Default: runs alone in its step. */
  supportsParallel?: boolean;
  /** Default: every profile offers it. */
  profiles?: ToolProfile[];
};

export type ReadArguments<Arguments> =
  | { kind: 'valid'; value: Arguments }
  /** `text` is for the model: the member, the rule it breaks, and a call that would be valid. */
  | { kind: 'refused'; text: string };

export type FunctionTool<Arguments> = {
  spec: ToolSpec;
  /** Members that are null count as left out, unknown ones are ignored. Never throws. */
  readArguments(input: string): ReadArguments<Arguments>;
};

/** Text that may become part of a path or of a command line. */
export const plainText: z.ZodString = z
  .string()
  .min(1, 'must not be empty')
  .refine((text) => !text.includes('\0'), 'must not contain a NUL character');

/** @throws Error when the example does not pass the tool's own rules */
export function defineFunctionTool<Schema extends z.ZodObject>(
  definition: FunctionToolDefinition<Schema>,
): FunctionTool<z.output<Schema>> {
  const { name, folder, input, effects, supportsParallel = false, profiles } = definition;
  const example = JSON.stringify(input.parse(definition.example) && definition.example);
  return {
    spec: {
      name,
      description: readFileSync(new URL('description.md', folder), 'utf8').trim(),
      placement: 'machine',
      effects,
      supportsParallel,
      ...(profiles ? { profiles } : {}),
      form: { kind: 'function', parameters: toParameters(input) },
    },
    readArguments: (text) => {
      const read = readObject(input, text);
      if (read.kind === 'valid') return read;
      return {
        kind: 'refused',
        text: `failed to parse function arguments: ${read.reason}. A valid call: ${example}`,
      };
    },
  };
}

function readObject<Schema extends z.ZodObject>(
  schema: Schema,
  text: string,
): { kind: 'valid'; value: z.output<Schema> } | { kind: 'refused'; reason: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { kind: 'refused', reason: error instanceof Error ? error.message : 'not JSON' };
  }
  const parsed = schema.safeParse(withoutNulls(value));
  if (parsed.success) return { kind: 'valid', value: parsed.data };
  return { kind: 'refused', reason: toReason(schema, parsed.error.issues[0]) };
}

function toReason(schema: z.ZodObject, issue: z.core.$ZodIssue | undefined): string {
  const member = issue?.path.join('.');
  if (member) return `${member}: ${issue?.message ?? 'not valid'}`;
  const required = toParameters(schema)['required'];
  const names = Array.isArray(required) ? required.join(', ') : '';
  return names === '' ? 'an object is needed' : `an object with the member ${names} is needed`;
}

/** At any depth, but not inside of lists. */
function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}

function toParameters(schema: z.ZodObject): Record<string, unknown> {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: 'input', override: refine });
  return parameters;
}

/** Objects are closed, and bounds that only say that a number is a safe integer are noise. */
function refine({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.type === 'object') jsonSchema.additionalProperties = false;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}
