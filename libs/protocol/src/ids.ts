// ids.ts: how the parts of a session are named.
// A turn is named by the input that started it, so a turn exists once however often that input is delivered.

/** UUID of a session; Codex calls it a thread. Chosen once by the session-api. */
export type SessionId = string;
/** Client-chosen, unique for ever within its session, at most 64 characters of `[A-Za-z0-9_-]`. */
export type InputId = string;
/** The id of the input that started the turn. */
export type TurnId = InputId;
/** `<turn ordinal>.<step>.<index>`, unique within a session, never the model's own call id. */
export type CallId = string;
/** SHA-256 in lower-case hex. */
export type Digest = string;

export function toCallId(parts: { ordinal: number; step: number; index: number }): CallId {
  return `${parts.ordinal}.${parts.step}.${parts.index}`;
}
