// human-view.ts: the events of one turn as lines for a person.
// V1  Text that is followed by calls is progress; text that nothing follows is the answer, and the answer is not a line.
// V2  What the model or a tool wrote cannot control the terminal.
// V3  Deltas change the live line only: a person never reads text of an attempt that was given up as if it were the answer.
import type { Delta, EventBody, SessionEvent, TokenUsage } from '@holdfast/protocol';
import { noUsage } from '@holdfast/protocol';
import {
  hasSucceeded,
  toCallLabel,
  toChangeList,
  toLastLines,
  toOneLine,
  toOutcome,
  toPlainText,
  toSeconds,
  type ToolResult,
} from './call-text.ts';
import type { Paint } from './paint.ts';

export type HumanViewOptions = {
  sessionId: string;
  paint: Paint;
  /** The live line shows which calls run, so no line of their own says that they started. */
  live: boolean;
  /** Say what was asked; for viewers who did not ask it themselves. */
  showPrompt?: boolean;
};

export type HumanView = {
  /** Lines that the event adds. */
  event(event: SessionEvent): string[];
  /** Takes a piece of live output; the live line may change. */
  delta(delta: Delta): void;
  /** What goes on right now; empty when nothing does. */
  status(): string;
  /** The text of the turn's last step; what the turn answers when it is completed. */
  answer(): string;
};

const outputLinesShown = 6;
const textLimit = 200;

type ViewState = {
  texts: string[];
  calls: Map<string, string>;
  streamed: { key: string; attempt: number; text: string };
  /** Nothing has happened since the turn began to wait. */
  waiting: boolean;
  startedAt: string;
  usage: TokenUsage;
};

export function createHumanView(options: HumanViewOptions): HumanView {
  const state: ViewState = {
    texts: [],
    calls: new Map(),
    streamed: { key: '', attempt: 0, text: '' },
    waiting: false,
    startedAt: '',
    usage: noUsage,
  };
  return {
    event: (event) => toLines(event, state, options),
    delta: (delta) => takeDelta(delta, state),
    status: () => toStatus(state),
    answer: () => state.texts.join('\n\n'),
  };
}

function toLines(event: SessionEvent, state: ViewState, options: HumanViewOptions): string[] {
  const { paint } = options;
  state.waiting = event.type === 'status' && event.status === 'waiting';
  switch (event.type) {
    case 'status':
      return toStatusLines(event, state, options);
    case 'step':
      if (event.status === 'started') state.texts = [];
      state.streamed = { key: '', attempt: 0, text: '' };
      return [];
    case 'text':
      state.texts.push(event.text);
      return [];
    case 'reasoning':
      return [paint.dim(`∴ ${toOneLine(event.text, textLimit)}`)];
    case 'usage':
      state.usage = addUsage(state.usage, event.usage);
      return [];
    case 'tool_call': {
      const label = toCallLabel(event);
      state.calls.set(event.callId, label);
      return [...takeTexts(state), ...(options.live ? [] : [`▸ ${label}`])];
    }
    case 'mcp_progress':
      return options.live ? [] : [paint.dim(`  ${toProgressText(event)}`)];
    case 'tool_result':
      return toResultLines(event, state, paint);
    case 'context':
      return [paint.dim(`▸ ${toOneLine(event.detail, textLimit)}`)];
    case 'message_injected':
      return [paint.dim(`+ ${toOneLine(event.text, textLimit)}`)];
    case 'approval':
      return toApprovalLines(event, options);
    case 'plan':
      return event.plan.map(({ step, status }) => `${planMarks[status]} ${toOneLine(step, textLimit)}`);
    case 'diff':
      return [];
    case 'error':
      return [
        paint.yellow(`↻ ${event.error.message}${event.willRetry ? ` (attempt ${event.attempt})` : ''}`),
      ];
  }
}

const planMarks = { pending: '☐', in_progress: '▸', completed: '☑' } as const;

function toStatusLines(
  event: Extract<SessionEvent, { type: 'status' }>,
  state: ViewState,
  { paint, showPrompt }: HumanViewOptions,
): string[] {
  switch (event.status) {
    case 'starting':
      state.startedAt = event.at;
      return showPrompt
        ? [paint.dim(`turn ${event.ordinal}: ${toOneLine(event.input.text, textLimit)}`)]
        : [];
    case 'waiting':
      return event.reason === 'approval'
        ? []
        : [paint.yellow(`⏸ waiting: ${toOneLine(event.detail, textLimit)}`)];
    case 'completed':
      return [paint.dim(toSummary(state, event.at))];
    case 'cancelled':
      return [...takeTexts(state), paint.yellow('■ interrupted')];
    case 'error':
      return [...takeTexts(state), paint.red(`✘ ${event.error.message}`)];
  }
}

/** The texts of the step as progress, once. */
function takeTexts(state: ViewState): string[] {
  const lines = state.texts.flatMap((text) => toPlainText(text).split('\n'));
  state.texts = [];
  return lines;
}

function toResultLines(event: ToolResult, state: ViewState, paint: Paint): string[] {
  const label = state.calls.get(event.callId) ?? event.tool;
  state.calls.delete(event.callId);
  const what = event.changes && event.changes.length > 0 ? `patch ${toChangeList(event.changes)}` : label;
  const line = `${what} · ${toOutcome(event)}`;
  if (hasSucceeded(event)) return [`${paint.green('✔')} ${line}`];
  const mark = event.status === 'unknown' ? paint.yellow('?') : paint.red('✘');
  return [
    `${mark} ${line}`,
    ...toLastLines(event.text, outputLinesShown).map((text) => paint.dim(`  │ ${text}`)),
  ];
}

function toApprovalLines(
  event: Extract<EventBody, { type: 'approval' }>,
  options: HumanViewOptions,
): string[] {
  const { paint, sessionId } = options;
  if (event.status === 'resolved')
    return [paint.dim(`▸ ${event.decision === 'accept' ? 'approved' : 'declined'}`)];
  return [
    paint.yellow(`? ${toOneLine(event.question, textLimit)}`),
    `  answer with: holdfast approve ${sessionId} ${event.approvalId} [--decline]`,
  ];
}

function toProgressText(event: Extract<EventBody, { type: 'mcp_progress' }>): string {
  const amount = event.total === undefined ? `${event.progress}` : `${event.progress}/${event.total}`;
  return toOneLine(`${amount} ${event.message ?? ''}`, textLimit);
}

function addUsage(sum: TokenUsage, more: TokenUsage): TokenUsage {
  return {
    inputTokens: sum.inputTokens + more.inputTokens,
    cachedInputTokens: sum.cachedInputTokens + more.cachedInputTokens,
    outputTokens: sum.outputTokens + more.outputTokens,
    reasoningOutputTokens: sum.reasoningOutputTokens + more.reasoningOutputTokens,
  };
}

function toSummary({ usage, startedAt }: ViewState, endedAt: string): string {
  const { inputTokens, cachedInputTokens, outputTokens } = usage;
  const took = startedAt === '' ? '' : ` · ${toSeconds(Date.parse(endedAt) - Date.parse(startedAt))}`;
  return `tokens: ${inputTokens} in (${cachedInputTokens} cached), ${outputTokens} out${took}`;
}

/** Deltas of an older attempt than the newest seen are of a dead one. */
function takeDelta(delta: Delta, state: ViewState): void {
  const key = delta.kind === 'output' ? `output ${delta.callId}` : `${delta.kind} ${delta.step}`;
  const { streamed } = state;
  if (streamed.key === key && delta.attempt < streamed.attempt) return;
  state.waiting = false;
  const goesOn = streamed.key === key && delta.attempt === streamed.attempt;
  // The live line shows an end only, so there is no need to keep more.
  state.streamed = {
    key,
    attempt: delta.attempt,
    text: `${goesOn ? streamed.text : ''}${delta.text}`.slice(-2_000),
  };
}

function toStatus({ calls, streamed, waiting }: ViewState): string {
  if (waiting) return 'waiting…';
  const last = toPlainText(streamed.text).trimEnd().split('\n').at(-1)?.trim() ?? '';
  if (calls.size === 0) return last === '' ? 'thinking…' : `… ${Array.from(last).slice(-60).join('')}`;
  const running = `▸ ${[...calls.values()].join(' ▸ ')}`;
  return streamed.key.startsWith('output ') && last !== ''
    ? `${running} │ ${toOneLine(last, textLimit)}`
    : running;
}
