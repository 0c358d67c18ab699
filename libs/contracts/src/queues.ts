// queues.ts: who polls what. Names are part of running workflows: never change one without keeping the old one served.

export const queues = {
  orchestrator: 'orchestrator',
  llm: 'llm',
  gateway: 'mcp',
  history: 'history',
} as const;

/** A machine's own queue: stable over restarts of its tool worker, polled by exactly one process. */
export function toMachineQueue(machineId: string): string {
  return `tool.${machineId}`;
}

export function toWorkflowId(sessionId: string): string {
  return `session-${sessionId}`;
}
