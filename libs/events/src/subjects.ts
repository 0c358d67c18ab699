// subjects.ts: the one place where NATS subjects are spelled.

export const eventStream = { name: 'HOLDFAST_EVENTS', subject: 'holdfast.event.>' } as const;

export function toEventSubject(sessionId: string): string {
  return `holdfast.event.${sessionId}`;
}

export function toDeltaSubject(sessionId: string): string {
  return `holdfast.delta.${sessionId}`;
}

/** Who a cancel hint is for: the LLM workers, the MCP gateways, or one machine by its id. */
export type CancelAudience = 'llm' | 'gateway' | (string & {});

export function toCancelSubject(audience: CancelAudience): string {
  return `holdfast.cancel.${audience}`;
}

/** What a machine is asked and answers. */
export function toMachineSubject(machineId: string): string {
  return `holdfast.machine.${machineId}`;
}

/** Calls that are about to be dispatched to a machine. */
export function toCallSubject(machineId: string): string {
  return `holdfast.calls.${machineId}`;
}
