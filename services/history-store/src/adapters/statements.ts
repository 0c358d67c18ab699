import { readFileSync } from 'node:fs';
import type { Statement } from './database.ts';

/** The statement of `src/sql/<name>.sql`. */
export function readStatement(name: string): Statement {
  return { name, text: readFileSync(new URL(`../sql/${name}.sql`, import.meta.url), 'utf8') };
}

/** Calls a function of the schema that takes the whole request as one JSON value. */
export function toFunctionCall(name: string): Statement {
  return { name, text: `select ${name}($1::jsonb) as answer` };
}
