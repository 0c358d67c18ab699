// script.ts: what the scripted model of the demo does: find the bug, repair it, prove it.
import { buggyLine, fixedLine } from './project.ts';

/** The commands by the name that each adds to the effects file. */
export const commandNames = {
  firstTests: 'tests before the fix',
  readCode: 'read the code',
  secondTests: 'tests after the fix',
} as const;

export type CommandName = (typeof commandNames)[keyof typeof commandNames];

/** The last answer comes slowly, a few characters at a time, so that there is time to kill something in the middle of it. */
const answerChunk = { size: 6, delayMs: 120 };

const answer =
  'The total ignored how many pieces of an item are in the basket. `totalOf` now multiplies the price by the quantity, ' +
  'and all three tests pass. Nothing else changed.';

const patch = [
  '*** Begin Patch',
  '*** Update File: src/basket.js',
  '@@ export function totalOf(items) {',
  `-${buggyLine}`,
  `+${fixedLine}`,
  '*** End Patch',
].join('\n');

/** As JSON text, in the form of libs/model-script. */
export function toDemoScript(): string {
  const replies = [
    { output: [{ text: 'I run the tests first.' }, toCommand(commandNames.firstTests, '../node --test')] },
    {
      output: [
        { text: 'One test fails; I read the code.' },
        toCommand(commandNames.readCode, 'cat src/basket.js'),
      ],
    },
    { output: [{ custom: { name: 'apply_patch', input: patch } }] },
    { output: [{ text: 'I run the tests again.' }, toCommand(commandNames.secondTests, '../node --test')] },
    { output: [{ text: answer }], chunk: answerChunk },
  ];
  return JSON.stringify({ name: 'demo', replies });
}

function toCommand(name: CommandName, command: string): object {
  const cmd = `echo '${name}' >> ../effects.log; ${command}`;
  return { call: { name: 'exec_command', arguments: { cmd } } };
}

/** The step of the last answer: the last of the replies. */
export const finalStep = 5;

/** Which command a call runs, by its input. */
export function toCommandName(input: string): CommandName | undefined {
  return Object.values(commandNames).find((name) => input.includes(`'${name}'`));
}
