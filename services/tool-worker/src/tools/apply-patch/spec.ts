import { readFileSync } from 'node:fs';
import type { ToolSpec } from '@holdfast/protocol';

export const applyPatchSpec: ToolSpec = {
  name: 'apply_patch',
  description: readFileSync(new URL('description.md', import.meta.url), 'utf8').trim(),
  placement: 'machine',
  effects: 'write',
  supportsParallel: false,
  form: {
    kind: 'freeform',
    syntax: 'lark',
    definition: readFileSync(new URL('grammar.lark', import.meta.url), 'utf8'),
  },
};
