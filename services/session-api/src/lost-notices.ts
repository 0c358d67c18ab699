import { isTerminal, type SessionEvent, type TurnId } from '@holdfast/protocol';

/** What the engine may not have been told, because the process that should have told it was gone. */
export type LostNotices = { cancelledTurnId: TurnId | undefined; approvalIds: string[] };

/** From a session's newest events: the turn that was cancelled last, and approvals that were answered but whose call has no result. */
export function findLostNotices(events: readonly SessionEvent[]): LostNotices {
  const approvals = new Map<string, string>();
  let cancelledTurnId: TurnId | undefined;
  for (const event of events) {
    if (event.type === 'approval' && event.status === 'resolved')
      approvals.set(event.callId, event.approvalId);
    if (event.type === 'tool_result') approvals.delete(event.callId);
    if (!isTerminal(event)) continue;
    approvals.clear();
    const cancelled = event.type === 'status' && event.status === 'cancelled';
    cancelledTurnId = cancelled ? (event.turnId ?? undefined) : undefined;
  }
  return { cancelledTurnId, approvalIds: [...approvals.values()] };
}
