// Records the histories that test/replay replays, from a stack of its own: `node scripts/src/record-histories.ts`.
// Run it when a new kind of history appears; never to make a failing replay pass.
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { toWorkflowId } from '@holdfast/contracts';
import { answer, command, driveSession, script, startTestStack, type DrivenSession } from '@holdfast/testing';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = fileURLToPath(new URL('../../test/replay/histories/', import.meta.url));
mkdirSync(folder, { recursive: true });
const stack = await startTestStack({ env: { HOLDFAST_STEPS_PER_RUN: '4' } });
const connection = await Connection.connect({ address: stack.addresses()['temporal'] ?? '' });
const client = new Client({ connection, namespace: 'holdfast' });

async function keep(name: string, session: DrivenSession): Promise<void> {
  const history = await client.workflow.getHandle(toWorkflowId(session.sessionId)).fetchHistory();
  // Stack traces of failures name the files of this checkout.
  const text = historyToJSON(history).replaceAll(`file://${root}`, '').replaceAll(root, '');
  writeFileSync(`${folder}${name}.json`, `${text}\n`);
}

async function recordTurns(): Promise<void> {
  const one = await driveSession(stack, script(command('true'), answer('ok')), { prompt: 'go' });
  await one.untilTurnEnds();
  await keep('one-turn', one);

  const both = [...command('true').output, ...command('echo two').output];
  const parallel = await driveSession(stack, script({ output: both }, answer('ok'), answer('again')));
  await Promise.all([parallel.prompt(), parallel.prompt()]);
  await parallel.untilTurnEnds(2);
  await keep('parallel-calls-and-a-queued-prompt', parallel);

  const steps = Array.from({ length: 6 }, () => command('true'));
  const long = await driveSession(stack, script(...steps, answer('ok')), { prompt: 'go' });
  await long.untilTurnEnds();
  await keep('continued-as-new', long);
}

async function recordMessages(): Promise<void> {
  const steered = await driveSession(stack, script({ ...command('true'), gate: 'steer' }, answer('ok')), {
    prompt: 'go',
  });
  await stack.model.gate('steer').waiting();
  await steered.steer({ inputId: crypto.randomUUID(), text: 'more' });
  stack.model.gate('steer').open();
  await steered.untilTurnEnds();
  await keep('steered', steered);

  const stopped = await driveSession(stack, script(command('sleep 60'), answer('next')), { prompt: 'go' });
  await stopped.until((event) => event.type === 'tool_call');
  await stopped.interrupt();
  await stopped.prompt();
  await stopped.untilTurnEnds(2);
  await keep('interrupted', stopped);

  const asked = await driveSession(stack, script(command('true'), answer('ok')), {
    approvalPolicy: 'always',
    prompt: 'go',
  });
  const seen = await asked.until((event) => event.type === 'approval');
  const question = seen.at(-1);
  if (question?.type === 'approval')
    await asked.approve({ approvalId: question.approvalId, decision: 'accept' });
  await asked.untilTurnEnds();
  await keep('approved', asked);

  const refused = await driveSession(
    stack,
    script({ ...answer(''), fail: { status: 401, times: 'always' } }),
    { prompt: 'go' },
  );
  await refused.untilTurnEnds();
  await keep('failed', refused);
}

try {
  await recordTurns();
  await recordMessages();
} finally {
  await connection.close();
  await stack.close();
}
