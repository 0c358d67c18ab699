// selection.ts: which reply of a script answers a request.
// Owns: the choice. Does not own: how a reply is sent (response-events.ts, playback.ts), how often it fails first (response-route.ts).
// L1  The choice depends on the script and the request alone, so a new server process continues a session.
// L2  A reply's number is its place in `replies` from 0; in a looping script each further round adds `replies.length`.
//     Every item it makes carries that number in its id and call id (reply-ids.ts).
// L3  Candidates are the replies whose `when` matches the request; when none does, the replies without `when`.
// L4  The candidate with the smallest number above all candidates' numbers found in the input plays. Without any `when`
//     this is: the highest number in the input plus one, 0 at the start.
// L5  Model items that came back without numbers count as one candidate played for each run of them.
// L6  With no candidate left the request fails; nothing is repeated unless the script loops.
// A history that was compacted or rolled back holds fewer numbers, so earlier replies play again: use `when` to tell the two apart.
import {
  containsText,
  hasToolOutputFor,
  toLastUserText,
  toPlayedReplies,
  toTurn,
  type InputItem,
  type ModelRequest,
} from './model-request.ts';
import type { Match, Reply, Script } from './script.ts';

/** Decides a reply in code. May throw: the request then fails with HTTP 400, which no client retries. */
export type ReplyFunction = (request: ModelRequest, number: number) => Reply;
export type ReplySource = Script | ReplyFunction;

export type Selection = { kind: 'reply'; reply: Reply; number: number } | { kind: 'none'; message: string };

/** `id` names the script in the message when it has no name of its own. Throws only what a `ReplyFunction` throws. */
export function selectReply(source: ReplySource, request: ModelRequest, id: string): Selection {
  const played = toPlayedReplies(request.input);
  if (typeof source === 'function') {
    const number = toNextNumber(played, () => true);
    return { kind: 'reply', reply: source(request, number), number };
  }
  const { replies, loop } = source;
  const label = `script "${source.name ?? id}"`;
  const matching = replies.map(
    (reply) => reply.when !== undefined && isMatch(reply.when, request, played.length),
  );
  const isNarrowed = matching.includes(true);
  const candidates = replies.map((reply, place) =>
    isNarrowed ? matching[place] === true : reply.when === undefined,
  );
  const isCandidate = (number: number) => candidates[number % replies.length] === true;
  const last = describeLast(request.input);
  if (!candidates.includes(true)) {
    return {
      kind: 'none',
      message: `No reply of ${label} matches the request, whose last input item is ${last}; add a reply without "when".`,
    };
  }
  const number = toNextNumber(played, isCandidate);
  const reply = loop || number < replies.length ? replies[number % replies.length] : undefined;
  if (reply) return { kind: 'reply', reply, number };
  const missing = isNarrowed ? 'further reply whose "when" matches' : `reply ${number}`;
  return {
    kind: 'none',
    message: `The ${label} has no ${missing}: it has ${replies.length}, ${played.length} played, and the last input item is ${last}; add a reply or set "loop": true.`,
  };
}

// At least one place is a candidate, so the search ends within one round.
function toNextNumber(
  played: readonly (number | undefined)[],
  isCandidate: (number: number) => boolean,
): number {
  const toCandidateAbove = (number: number) => {
    let next = number + 1;
    while (!isCandidate(next)) next += 1;
    return next;
  };
  let highest = -1;
  for (const number of played) {
    if (number === undefined) highest = toCandidateAbove(highest);
    else if (number > highest && isCandidate(number)) highest = number;
  }
  return toCandidateAbove(highest);
}

function isMatch(match: Match, request: ModelRequest, playedCount: number): boolean {
  const { input } = request;
  if (match.model !== undefined && match.model !== request.model) return false;
  if (match.reply !== undefined && match.reply !== playedCount) return false;
  if (match.turn !== undefined && match.turn !== toTurn(input)) return false;
  if (match.hasToolOutputFor !== undefined && !hasToolOutputFor(input, match.hasToolOutputFor)) return false;
  if (match.lastUserContains !== undefined && !toLastUserText(input).includes(match.lastUserContains))
    return false;
  return (
    match.inputContains === undefined || containsText([request.instructions, input], match.inputContains)
  );
}

const describedLength = 120;

function describeLast(input: readonly InputItem[]): string {
  const item = input.at(-1);
  if (!item) return 'missing';
  const { type = 'message', role, call_id: callId, content, output } = item;
  const names = [type, role, callId].filter((part) => typeof part === 'string').join(' ');
  const shown = JSON.stringify(content ?? output) ?? '';
  return `${names} ${shown.length > describedLength ? `${shown.slice(0, describedLength)}…` : shown}`.trimEnd();
}
