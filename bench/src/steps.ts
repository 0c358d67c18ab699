// steps.ts: the overhead of a step = the time from the last byte of one reply to the complete body of the next request,
// measured at the scripted model, so that it means the same for Holdfast and for Codex. It includes the tool itself.
import type { ModelServer, RecordedRequest, Reply, Script } from '@holdfast/model-script';
import { answer, command, patch, script } from '@holdfast/testing';
import { toSpread, type Spread } from './statistics.ts';

/** The first steps run on the server's burst allowance and on cold caches. */
export const warmUpSteps = 10;

export type StepKind = 'exec_command true' | 'apply_patch';

export function toStepScript(kind: StepKind, steps: number): Script {
  const total = steps + warmUpSteps;
  const replies: Reply[] = Array.from({ length: total }, (_, index) =>
    kind === 'apply_patch' ? patch(`*** Add File: file-${index}.txt`, '+one line') : command('true'),
  );
  return script(...replies, answer('done'));
}

/** Gaps between the requests of one script, without the warm-up. */
export function toStepGaps(model: ModelServer, scriptId: string): number[] {
  const requests = model.requests.filter(
    (request) => request.scriptId === scriptId && request.number !== undefined,
  );
  return requests
    .slice(1)
    .map((request, index) => request.receivedAt - lastByteOf(requests[index]))
    .slice(warmUpSteps);
}

export function toStepSpread(model: ModelServer, scriptId: string): Spread {
  return toSpread(toStepGaps(model, scriptId));
}

function lastByteOf(request: RecordedRequest | undefined): number {
  if (request?.lastByteAt === undefined) throw new Error('a reply was not sent to its end');
  return request.lastByteAt;
}
