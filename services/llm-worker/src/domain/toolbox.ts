// toolbox.ts: the tools of a session in the form of a request, made once for each set of catalogs.
import type { MachineDirectory } from '@holdfast/agent-loop';
import type { Digest, Placement, ToolSpec } from '@holdfast/protocol';

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
    };

type Toolbox = {
  /** In the same order for the same catalogs, so that the provider's prompt cache stays valid. */
  tools: readonly RequestTool[];
  specs: ReadonlyMap<string, ToolSpec>;
};

export type ToolboxReader = (catalogs: readonly Digest[]) => Promise<Toolbox>;

const rank: Record<Placement, number> = { machine: 0, workflow: 1, gateway: 2 };
const keptToolboxes = 256;

/** Catalogs never change under their digest, so a toolbox is read once. @throws Failure catalog.unknown, store.unavailable */
export function createToolboxReader(store: Pick<MachineDirectory, 'readCatalog'>): ToolboxReader {
  const kept = new Map<string, Toolbox>();
  return async (catalogs) => {
    const key = catalogs.join(' ');
    const known = kept.get(key);
    if (known) return known;
    const read = await Promise.all(catalogs.map((digest) => store.readCatalog({ digest })));
    const toolbox = toToolbox(read.flatMap((catalog) => catalog.tools));
    kept.set(key, toolbox);
    for (const oldest of kept.keys()) {
      if (kept.size <= keptToolboxes) break;
      kept.delete(oldest);
    }
    return toolbox;
  };
}

/** Machine tools first, then gateway tools, by name within each; of two tools with one name the earlier catalog wins. */
function toToolbox(offered: readonly ToolSpec[]): Toolbox {
  const unique = new Map<string, ToolSpec>();
  for (const spec of offered) if (!unique.has(spec.name)) unique.set(spec.name, spec);
  const ordered = [...unique.values()].toSorted(
    (one, other) => rank[one.placement] - rank[other.placement] || (one.name < other.name ? -1 : 1),
  );
  return { tools: ordered.map(toRequestTool), specs: unique };
}

function toRequestTool({ name, description, form }: ToolSpec): RequestTool {
  if (form.kind === 'function') {
    return { type: 'function', name, description, parameters: form.parameters, strict: false };
  }
  const format = { type: 'grammar' as const, syntax: form.syntax, definition: form.definition };
  return { type: 'custom', name, description, format };
}
