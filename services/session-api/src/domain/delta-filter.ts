// delta-filter.ts: which pieces of live output still mean something to a viewer who has seen the events up to now.
// D1  Of the attempts at one step or call, only the newest one's pieces pass.
// D2  Nothing passes of a reply or an output that is recorded, nor of an ended turn: the viewer has the whole of it.
// D3  Memory is bounded by what one step can hold; what is forgotten is only a piece that may flicker.
import { isTerminal, type Delta, type SessionEvent } from '@holdfast/protocol';

/** A session runs one turn at a time; a few more cover the pieces that overtake their turn's events. */
const turnsKept = 4;

type TurnProgress = {
  /** The newest step whose reply is recorded. */
  repliedStep: number;
  /** The newest step that is over. */
  completedStep: number;
  /** Calls of the running step whose output is recorded. */
  finishedCalls: Set<string>;
  /** The newest attempt by step or call. */
  attempts: Map<string, number>;
  ended: boolean;
};

export class DeltaFilter {
  readonly #turns = new Map<string, TurnProgress>();

  observe(event: SessionEvent): void {
    if (event.turnId === null) return;
    const turn = this.#toTurn(event.turnId);
    if (isTerminal(event)) turn.ended = true;
    else if (event.type === 'usage') turn.repliedStep = Math.max(turn.repliedStep, event.step);
    else if (event.type === 'tool_result') turn.finishedCalls.add(event.callId);
    else if (event.type === 'step' && event.status === 'completed') endStep(turn, event.step);
  }

  accepts(delta: Delta): boolean {
    const turn = this.#toTurn(delta.turnId);
    if (turn.ended || isRecorded(turn, delta)) return false; // D2
    const key = delta.kind === 'output' ? delta.callId : String(delta.step);
    const newest = turn.attempts.get(key) ?? 0;
    if (delta.attempt < newest) return false; // D1
    turn.attempts.set(key, delta.attempt);
    return true;
  }

  #toTurn(turnId: string): TurnProgress {
    const known = this.#turns.get(turnId);
    if (known) return known;
    const turn: TurnProgress = {
      repliedStep: 0,
      completedStep: 0,
      finishedCalls: new Set(),
      attempts: new Map(),
      ended: false,
    };
    this.#turns.set(turnId, turn);
    const [oldest] = this.#turns.keys();
    if (this.#turns.size > turnsKept && oldest !== undefined) this.#turns.delete(oldest); // D3
    return turn;
  }
}

function isRecorded(turn: TurnProgress, delta: Delta): boolean {
  if (delta.kind !== 'output') return delta.step <= turn.repliedStep;
  return turn.finishedCalls.has(delta.callId) || toStep(delta.callId) <= turn.completedStep;
}

function endStep(turn: TurnProgress, step: number): void {
  turn.repliedStep = Math.max(turn.repliedStep, step);
  turn.completedStep = Math.max(turn.completedStep, step);
  turn.finishedCalls.clear();
  turn.attempts.clear();
}

/** The step in `<turn ordinal>.<step>.<index>`. */
function toStep(callId: string): number {
  return Number(callId.split('.')[1] ?? 0);
}
