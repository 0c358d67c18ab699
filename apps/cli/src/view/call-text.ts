// call-text.ts: one tool call in one line, for people.
import { stripVTControlCharacters } from 'node:util';
import type { EventBody, FileChange } from '@holdfast/protocol';

export type ToolResult = Extract<EventBody, { type: 'tool_result' }>;

const labelLimit = 100;
const outputLineLimit = 160;

/** Text of a model or a tool cannot move the cursor, ring the bell or break the line. */
export function toOneLine(text: string, limit: number): string {
  const plain = stripVTControlCharacters(text)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
  const characters = Array.from(plain);
  return characters.length > limit ? `${characters.slice(0, limit - 1).join('')}…` : plain;
}

/** Likewise, but lines stay lines. */
export function toPlainText(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[^\P{Cc}\n\t]/gu, '');
}

/** What plans and questions say is told by events of their own. */
export function toCallLabel(call: { tool: string; input: string }): string {
  if (call.tool === 'exec_command') return toOneLine(readCommand(call.input) ?? call.input, labelLimit);
  if (call.tool === 'apply_patch') return `patch ${toOneLine(toPatchTargets(call.input), labelLimit)}`;
  if (call.tool === 'update_plan' || call.tool === 'request_user_input') return call.tool;
  return toOneLine(`${call.tool} ${call.input}`, labelLimit);
}

function readCommand(input: string): string | undefined {
  try {
    const value: unknown = JSON.parse(input);
    const command = typeof value === 'object' && value !== null && 'cmd' in value ? value.cmd : undefined;
    return typeof command === 'string' ? command : undefined;
  } catch {
    return undefined;
  }
}

function toPatchTargets(patch: string): string {
  const headers = patch.matchAll(/^\s*\*\*\* (?:Add|Update|Delete) File: (.+)$/gm);
  return Array.from(headers, ([, path]) => path?.trim() ?? '').join(', ');
}

const letters = { add: 'A', update: 'M', delete: 'D' } as const;

export function toChangeList(changes: readonly FileChange[]): string {
  return changes.map(({ kind, path }) => `${letters[kind]} ${toOneLine(path, labelLimit)}`).join(', ');
}

/** Whether what was asked for happened; a command that exits with another code than 0 did not. */
export function hasSucceeded(result: ToolResult): boolean {
  return result.status === 'ok' && (result.exitCode ?? 0) === 0;
}

/** For example `exit 1 · 3.2 s`. */
export function toOutcome(result: ToolResult): string {
  const words = {
    ok: 'done',
    failed: 'failed',
    denied: 'declined',
    aborted: 'stopped',
    unknown: 'outcome unknown',
  };
  const hasExit = result.exitCode !== undefined && (result.status === 'ok' || result.status === 'failed');
  return `${hasExit ? `exit ${result.exitCode}` : words[result.status]} · ${toSeconds(result.durationMs)}`;
}

export function toSeconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}

/** The last lines of what a tool wrote, without the header that is meant for the model. */
export function toLastLines(text: string, count: number): string[] {
  const header = /^(?:[^\n]*\n)*?Output:\n/.exec(text)?.[0] ?? '';
  const lines = text.slice(header.length).split('\n');
  const shown = lines
    .map((line) => toOneLine(line.replace(/\t/g, '  '), outputLineLimit))
    .filter((line) => line !== '');
  return shown.slice(-count);
}
