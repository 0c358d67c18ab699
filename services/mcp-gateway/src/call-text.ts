// call-text.ts: what the model reads of an MCP call, in the layout that models know from Codex.
import { failureTable } from '@holdfast/failures';
import { boundText, toOutputBound, type OutputStyle } from '@holdfast/protocol';
import type { ToolAnswer, ToolOutcome } from './tool-caller.ts';

type Content = ToolAnswer['content'][number];

/** Structured content as JSON where there is some, else all content as text. */
export function toAnswerText(answer: ToolAnswer): string {
  if (answer.structuredContent !== undefined) return JSON.stringify(answer.structuredContent);
  return answer.content.map(toContentText).join('\n');
}

/** The text, bounded, in its layout. The wall time has four decimals, in seconds. */
export function toBoundedLayout(
  text: string,
  { durationMs, style }: { durationMs: number; style: OutputStyle | undefined },
): { text: string; tokens: number; cut: boolean } {
  const bounded = boundText(text, toOutputBound(style));
  const header = `Wall time: ${(durationMs / 1000).toFixed(4)} seconds\nOutput:\n`;
  return {
    text: header + bounded.text,
    tokens: bounded.tokens + Math.ceil(header.length / 4),
    cut: bounded.cut,
  };
}

/** A sentence for every outcome but an answer. */
export function toOutcomeSentence(
  server: string,
  outcome: Exclude<ToolOutcome, { kind: 'answered' }>,
): string {
  const name = `MCP server "${server}"`;
  switch (outcome.kind) {
    case 'refused':
      return `${name} did not run the call: ${outcome.reason}.`;
    case 'away':
      return `${name} is not available: ${outcome.reason}. Nothing was run; try again later or go on without it.`;
    case 'lost':
      return `${name} was lost during the call: ${outcome.reason}.`;
    case 'timed-out':
      return `${name} did not answer within ${outcome.limitMs / 1000} s and was told to stop.`;
    case 'needs-client':
      return `${name} asked for ${outcome.request} during the call, which Holdfast cannot give it; use another tool.`;
  }
}

/** What is known when the outcome of a call is not. */
export function toUnknownText(evidence: string): string {
  return `${failureTable['tool.outcome-unknown'].message} ${evidence}`;
}

function toContentText(content: Content): string {
  switch (content.type) {
    case 'text':
      return content.text;
    case 'image':
    case 'audio':
      return `[${content.type} ${content.mimeType}, ${toByteCount(content.data)} bytes, not shown]`;
    case 'resource_link':
      return `[resource ${content.uri}${content.description === undefined ? '' : `: ${content.description}`}]`;
    case 'resource':
      return 'text' in content.resource
        ? `[resource ${content.resource.uri}]\n${content.resource.text}`
        : `[resource ${content.resource.uri}, ${toByteCount(content.resource.blob)} bytes, not shown]`;
  }
}

function toByteCount(base64: string): number {
  return Buffer.byteLength(base64, 'base64');
}
