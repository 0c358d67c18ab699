import type { CallId, SessionId } from './ids.ts';
import type { Answers, Question } from './session-tools.ts';

export type ApprovalDecision = 'accept' | 'decline';

/** A question a person answers, once. The id is `<callId>` prefixed with `ap_`, so asking twice is asking once. */
export type Approval = {
  approvalId: string;
  sessionId: SessionId;
  callId: CallId;
  tool: string;
  question: string;
  /** Present when more than yes or no is asked for; accepting it then needs `answers`. */
  questions?: Question[];
  decision?: ApprovalDecision;
  answers?: Answers;
};

export function toApprovalId(callId: CallId): string {
  return `ap_${callId}`;
}
