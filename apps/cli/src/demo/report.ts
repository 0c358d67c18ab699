// report.ts: what Holdfast promised in the demo, and whether it held. Pure.
import type { SessionEvent } from '@holdfast/protocol';
import { isTerminal } from '@holdfast/protocol';
import { toLastLines, toSeconds } from '../view/call-text.ts';
import { toTable } from '../view/table.ts';
import type { Kill, Recovery } from './kills.ts';
import { fixedLine } from './project.ts';
import { commandNames, toCommandName } from './script.ts';

export type DemoOutcome = {
  events: SessionEvent[];
  /** Lines of the effects file. */
  effects: string[];
  diff: string;
  kills: { kill: Kill; recovery: Recovery | undefined }[];
};

export type DemoReport = {
  text: string;
  /** One sentence for each promise that did not hold. */
  broken: string[];
};

const testLinesShown = 12;

export function toReport(outcome: DemoOutcome): DemoReport {
  const broken = findBroken(outcome);
  const sections = [
    `What changed:\n\n${outcome.diff.trim()}`,
    `The last test run:\n\n${toTestLines(outcome.events).join('\n')}`,
    toKillTable(outcome).trim(),
    toRunTable(outcome.effects).trim(),
    broken.length === 0
      ? 'Every promise held.'
      : `Broken promises:\n${broken.map((line) => `- ${line}`).join('\n')}`,
  ];
  return { text: `${sections.join('\n\n')}\n`, broken };
}

function toTestLines(events: readonly SessionEvent[]): string[] {
  const result = findResult(events, commandNames.secondTests);
  return result ? toLastLines(result.text, testLinesShown).map((line) => `  ${line}`) : ['  (there is none)'];
}

function toKillTable({ kills, events }: DemoOutcome): string {
  const rows = kills.map(({ kill, recovery }) => {
    const next = events.find(({ at }) => Date.parse(at) > kill.at);
    return [
      kill.role,
      kill.during,
      recovery ? toSeconds(recovery.tookMs) : 'never',
      next ? toSeconds(Date.parse(next.at) - kill.at) : 'never',
    ];
  });
  return toTable(
    ['KILLED (-9)', 'IN THE MIDDLE OF', 'BACK AFTER', 'NEXT EVENT AFTER'],
    rows,
    'Nothing was killed.',
  );
}

function toRunTable(effects: readonly string[]): string {
  const rows = Object.values(commandNames).map((name) => [name, `${count(effects, name)}×`]);
  return toTable(['COMMAND', 'RAN'], rows, '');
}

function findBroken({ events, effects, diff, kills }: DemoOutcome): string[] {
  const terminal = events.filter((event) => isTerminal(event));
  const end = terminal[0]?.type === 'status' ? terminal[0].status : 'none';
  const wrongRuns = Object.values(commandNames).filter((name) => count(effects, name) !== 1);
  const changed = diff.split('\n').filter((line) => /^[+-](?![+-])/.test(line));
  const results = events.filter((event) => event.type === 'tool_result');
  const unclear = results.filter(({ status }) => status === 'unknown' || status === 'aborted');
  const lost = kills.filter(({ recovery }) => recovery === undefined);
  return [
    ...(kills.length === 2 ? [] : [`Two processes were to be killed, but it was ${kills.length}.`]),
    ...lost.map(({ kill }) => `The ${kill.role} did not come back within a minute.`),
    ...(end === 'completed' ? [] : [`The turn should have ended completed, but its end is ${end}.`]),
    ...(terminal.length <= 1 ? [] : [`The turn ended ${terminal.length} times.`]),
    ...(events.every(({ seq }, index) => seq === index + 1)
      ? []
      : ['The events have a gap or a repetition.']),
    ...wrongRuns.map((name) => `"${name}" should have run once, but ran ${count(effects, name)} times.`),
    ...(unclear.length === 0 ? [] : [`${unclear.length} calls have no known result.`]),
    ...(changed.length === 2 && changed[1] === `+${fixedLine}`
      ? []
      : ['The patch is not in the code exactly once.']),
    ...(findResult(events, commandNames.secondTests)?.exitCode === 0
      ? []
      : ['The tests do not pass after the fix.']),
  ];
}

function count(effects: readonly string[], name: string): number {
  return effects.filter((line) => line === name).length;
}

function findResult(events: readonly SessionEvent[], name: string) {
  const call = events.find((event) => event.type === 'tool_call' && toCommandName(event.input) === name);
  const callId = call?.type === 'tool_call' ? call.callId : undefined;
  return events.filter((event) => event.type === 'tool_result').find((event) => event.callId === callId);
}
