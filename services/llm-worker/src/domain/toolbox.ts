// toolbox.ts: the tools of a session in the form of a request, made once for each set of catalogs and profile.
// T1  A profile decides what is offered, not what runs: a model may call a tool by a form it knows from elsewhere (`shell`).
// T2  The same catalogs and profile give the same tools in the same order, so that the provider's prompt cache stays valid.
import type { MachineDirectory } from '@holdfast/agent-loop';
import type { Digest, Placement, ToolProfile, ToolSpec } from '@holdfast/protocol';
import { hostedTools } from './hosted-tools.ts';

export type RequestTool =
  | {
      type: 'function';
      name: string;
      description: string;
      parameters: Record<string, unknown>;
      strict: false;
    }
  | {
      type: 'custom';
      name: string;
      description: string;
      format: { type: 'grammar'; syntax: 'lark' | 'regex'; definition: string };
    }
  /** A tool that the provider runs itself. */
  | { type: 'web_search' };

export type ToolboxRequest = {
  catalogs: readonly Digest[];
  profile: ToolProfile;
  /** Names of the tools that the provider of the model runs itself. */
  hosted: readonly string[];
};

type Toolbox = {
  tools: readonly RequestTool[];
  /** Everything that may be called, offered or not. */
  specs: ReadonlyMap<string, ToolSpec>;
};

export type ToolboxReader = (request: ToolboxRequest) => Promise<Toolbox>;

const rank: Record<Placement, number> = { machine: 0, workflow: 1, gateway: 2, model: 3 };
const keptToolboxes = 256;

/** Catalogs never change under their digest, so a toolbox is read once. @throws Failure catalog.unknown, store.unavailable */
export function createToolboxReader(store: Pick<MachineDirectory, 'readCatalog'>): ToolboxReader {
  const kept = new Map<string, Toolbox>();
  return async (request) => {
    const key = [request.profile, ...request.hosted, ...request.catalogs].join(' ');
    const known = kept.get(key);
    if (known) return known;
    const read = await Promise.all(request.catalogs.map((digest) => store.readCatalog({ digest })));
    const hosted = hostedTools.filter(({ name }) => request.hosted.includes(name));
    const toolbox = toToolbox([...read.flatMap((catalog) => catalog.tools), ...hosted], request.profile);
    kept.set(key, toolbox);
    for (const oldest of kept.keys()) {
      if (kept.size <= keptToolboxes) break;
      kept.delete(oldest);
    }
    return toolbox;
  };
}

/** By placement, then by name; of two tools with one name the earlier catalog wins. */
function toToolbox(known: readonly ToolSpec[], profile: ToolProfile): Toolbox {
  const unique = new Map<string, ToolSpec>();
  for (const spec of known) if (!unique.has(spec.name)) unique.set(spec.name, spec);
  const tools = [...unique.values()]
    .filter(({ profiles }) => profiles?.includes(profile) ?? true)
    .toSorted((one, other) => rank[one.placement] - rank[other.placement] || (one.name < other.name ? -1 : 1))
    .map(toRequestTool);
  return { tools, specs: unique };
}

function toRequestTool({ name, description, form }: ToolSpec): RequestTool {
  switch (form.kind) {
    case 'function':
      return { type: 'function', name, description, parameters: form.parameters, strict: false };
    case 'freeform': {
      const format = { type: 'grammar' as const, syntax: form.syntax, definition: form.definition };
      return { type: 'custom', name, description, format };
    }
    case 'hosted':
      return { type: form.type };
  }
}
