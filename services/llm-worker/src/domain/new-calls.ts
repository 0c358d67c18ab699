// new-calls.ts: the calls of a reply, each with an id that is unique in its session and the place where it runs.
// N1  Item and call carry the same id.
// N2  The same reply to the same prompt gives the same ids.
import type { NewCall } from '@holdfast/agent-loop';
import { isCallItem, type CallItem, type Item, type ToolSpec } from '@holdfast/protocol';

export type NewItems = { items: Item[]; calls: NewCall[] };

/** Providers accept call ids of at most this length. */
const callIdLimit = 64;

/** An id that the prompt or an earlier call of the reply has taken gets the smallest free number behind it. */
export function toNewItems(
  reply: readonly Item[],
  context: { prompt: readonly Item[]; specs: ReadonlyMap<string, ToolSpec> },
): NewItems {
  if (!reply.some(isCallItem)) return { items: [...reply], calls: [] };
  const taken = new Set(context.prompt.filter(isCallItem).map((item) => item.call_id));
  const calls: NewCall[] = [];
  const items = reply.map((item) => {
    if (!isCallItem(item)) return item;
    const named = { ...item, call_id: toFreeId(item.call_id, taken) };
    taken.add(named.call_id);
    calls.push(toNewCall(named, context.specs));
    return named;
  });
  return { items, calls };
}

function toFreeId(wanted: string, taken: ReadonlySet<string>): string {
  const base = wanted === '' ? 'call' : wanted;
  if (!taken.has(base)) return base;
  for (let number = 2; ; number += 1) {
    const suffix = `-${number}`;
    const id = `${base.slice(0, callIdLimit - suffix.length)}${suffix}`;
    if (!taken.has(id)) return id;
  }
}

/**
 * Turns every form of a call into one: a function call, a freeform call, the namespace and name of an MCP tool or the two in one name.
 * A tool that no catalog has, or that only the provider could run, goes to the engine, alone: it answers `unsupported call`, and no
 * machine has to be there for that.
 */
function toNewCall(item: CallItem, specs: ReadonlyMap<string, ToolSpec>): NewCall {
  const isFunction = item.type === 'function_call';
  const tool = isFunction && item.namespace !== undefined ? `${item.namespace}__${item.name}` : item.name;
  return {
    modelCallId: item.call_id,
    tool,
    ...toRoute(specs.get(tool)),
    form: isFunction ? 'function' : 'freeform',
    input: isFunction ? item.arguments : item.input,
  };
}

function toRoute(spec: ToolSpec | undefined): Pick<NewCall, 'placement' | 'parallel'> {
  if (!spec || spec.placement === 'model') return { placement: 'workflow', parallel: false };
  return { placement: spec.placement, parallel: spec.supportsParallel };
}
