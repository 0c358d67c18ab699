import type { CallId, SessionId } from './ids.ts';

export type ApprovalDecision = 'accept' | 'decline';

/** A question a person answers, once. The id is `<callId>` prefixed with `ap_`, so asking twice is asking once. */
export type Approval = {
  approvalId: string;
  sessionId: SessionId;
  callId: CallId;
  tool: string;
  question: string;
  decision?: ApprovalDecision;
};

export function toApprovalId(callId: CallId): string {
  return `ap_${callId}`;
}
