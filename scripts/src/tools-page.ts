import type { ToolSpec } from '@holdfast/protocol';

type Schema = {
  type?: string;
  enum?: string[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  description?: string;
};

/** The page of every tool of a machine: what the model is told, and what decides how a call of it is treated. */
export function toToolsPage(specs: readonly ToolSpec[]): string {
  const rows = specs.map(
    (spec) =>
      `| [\`${spec.name}\`](#${spec.name}) | ${spec.effects} | ${spec.supportsParallel ? 'yes' : 'no'} | ${toProfiles(spec)} |`,
  );
  const head = '| tool | effects | beside others | profiles |\n|---|---|---|---|';
  return ['# Tools of a machine', intro, `${head}\n${rows.join('\n')}`, ...specs.map(toSection)].join('\n\n');
}

const intro =
  'A session chooses its profile with `holdfast exec --tools codex|files|minimal` or `settings.model.tools`; without a choice it is `codex`. A profile decides what the model is offered. Tools of MCP servers are offered in every profile, `web_search` of the provider in `codex` and `files` where the provider runs it. How to add one: [docs/guides/add-a-tool.md](../guides/add-a-tool.md).';

function toProfiles({ profiles = ['codex', 'files', 'minimal'] }: ToolSpec): string {
  return profiles.join(', ');
}

function toSection({ name, description, form }: ToolSpec): string {
  const text = description.replaceAll(/^#+ /gm, '');
  return `## ${name}\n\n${text}\n\n${toForm(form)}`;
}

function toForm(form: ToolSpec['form']): string {
  switch (form.kind) {
    case 'function': {
      const head = '| argument | type | default | meaning |\n|---|---|---|---|';
      return `${head}\n${toRows(form.parameters, '').join('\n')}`;
    }
    case 'freeform':
      return `Free text in this grammar (${form.syntax}):\n\n\`\`\`\n${form.definition.trim()}\n\`\`\``;
    case 'hosted':
      return 'Run by the provider of the model.';
  }
}

function toRows({ properties = {}, required = [] }: Schema, prefix: string): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const fallback = required.includes(name) ? 'required' : toFallback(schema);
    const meaning = (schema.description ?? '').replaceAll('|', String.raw`\|`);
    const row = `| \`${prefix}${name}\` | ${toType(schema)} | ${fallback} | ${meaning} |`;
    return [row].concat(toRows(schema, `${prefix}${name}.`));
  });
}

function toFallback({ default: value }: Schema): string {
  return value === undefined ? '' : `\`${JSON.stringify(value)}\``;
}

function toType({ type = '', enum: values, items, minimum, maximum }: Schema): string {
  if (values) return values.map((value) => `\`${value}\``).join(' or ');
  if (items) return `list of ${toType(items)}`;
  const least = minimum === undefined ? '' : ` ≥ ${minimum}`;
  const most = maximum === undefined ? '' : ` ≤ ${maximum}`;
  return `${type}${least}${most}`;
}
