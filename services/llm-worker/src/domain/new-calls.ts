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

/** A tool that no catalog offers goes to the machine, alone: it answers that there is no such tool. */
function toNewCall(item: CallItem, specs: ReadonlyMap<string, ToolSpec>): NewCall {
  const isFunction = item.type === 'function_call';
  const tool = isFunction && item.namespace !== undefined ? `${item.namespace}__${item.name}` : item.name;
  const spec = specs.get(tool);
  return {
    modelCallId: item.call_id,
    tool,
    placement: spec?.placement ?? 'machine',
    parallel: spec?.supportsParallel ?? false,
    form: isFunction ? 'function' : 'freeform',
    input: isFunction ? item.arguments : item.input,
  };
}
