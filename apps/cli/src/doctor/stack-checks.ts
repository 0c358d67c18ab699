// stack-checks.ts: the running stack: every role, the way through it, and how fast it is.
import { randomUUID } from 'node:crypto';
import type { Machine, SessionEvent } from '@holdfast/protocol';
import { isTerminal } from '@holdfast/protocol';
import { createSessionClient, type SessionClient } from '@holdfast/session-client';
import { readStatus, type StackPaths } from '@holdfast/stack';
import { localMachine } from '../stack-environment.ts';
import { readStackDoor, type StackPlace } from '../stack-files.ts';
import { failed, ok, skipped, type Check } from './check.ts';

/** Steps that are measured after one that warms everything up. */
const measuredSteps = 5;
/**
 * A one-tool step needs two activity hops. A server with its default poll rate spends 100 ms on each; one that is set up as the
 * documentation says needs 11 ms.
 */
const slowStepMs = 150;
const trialLimitMs = 30_000;

export async function checkStack(place: StackPlace, paths: StackPaths): Promise<Check[]> {
  const { state, processes } = await readStatus(paths);
  if (state !== 'up') return [failed('stack', `is ${state}`, 'start it with `holdfast up`')];
  const roles = processes.map(({ role, health, address }) =>
    health === 'ok'
      ? ok(role, address ?? 'runs')
      : failed(
          role,
          `is ${health}`,
          `look at \`holdfast logs ${role}\`, then \`holdfast down\` and \`holdfast up\``,
        ),
  );
  return [ok('stack', 'is up'), ...roles, ...(await checkWay(place))];
}

async function checkWay(place: StackPlace): Promise<Check[]> {
  const door = readStackDoor(place);
  if (!door)
    return [failed('api', 'the stack names no session-api', 'run `holdfast down` and `holdfast up`')];
  const client = createSessionClient({ url: door.sessionApiUrl, token: door.apiToken, patienceMs: 2_000 });
  const startedAt = performance.now();
  const machines = await client.listMachines().catch(() => null);
  if (!machines) return [failed('api', 'does not answer', 'look at `holdfast logs session-api`')];
  const api = ok('api', `answers in ${(performance.now() - startedAt).toFixed(0)} ms`);
  const machine = machines.find(({ name, kind }) => kind === 'machine' && name === localMachine);
  if (machine?.online)
    return [api, ok('machine', `${localMachine} is online`), await checkStep(client, machine)];
  const fix = `look at \`holdfast logs tool-worker:${localMachine}\``;
  const offline = failed('machine', `${localMachine} is ${machine ? 'offline' : 'not registered'}`, fix);
  return [api, offline, skipped('step', 'needs the machine')];
}

/** A real session with the scripted model: steps of one command that does nothing. */
async function checkStep(client: SessionClient, machine: Machine): Promise<Check> {
  const call = { call: { name: 'exec_command', arguments: { cmd: 'true' } } };
  const replies = [
    ...Array.from({ length: measuredSteps + 1 }, () => ({ output: [call] })),
    { output: [{ text: 'done' }] },
  ];
  const session = await client.createSession({
    settings: {
      machine: machine.machineId,
      model: { name: 'scripted', script: JSON.stringify({ name: 'doctor', replies }) },
    },
    input: { inputId: randomUUID(), text: 'holdfast doctor' },
  });
  const remote = client.open(session.sessionId);
  const events = await collect(remote.events({ signal: AbortSignal.timeout(trialLimitMs) }));
  await remote.close();
  const end = events.at(-1);
  if (end?.type !== 'status' || end.status !== 'completed') {
    const detail = end
      ? `a trial turn ended with ${end.type === 'error' ? end.error.message : end.type}`
      : 'a trial turn did not start';
    return failed('step', detail, `look at \`holdfast events ${session.sessionId}\` and \`holdfast logs\``);
  }
  return toStepCheck(events);
}

/**
 * Pure. What counts is the fastest step after the first, from its start to the next one's: a server that is set up badly slows
 * every step, a busy machine only some.
 */
export function toStepCheck(events: readonly SessionEvent[]): Check {
  const starts = events
    .filter((event) => event.type === 'step' && event.status === 'started')
    .map(({ at }) => Date.parse(at))
    .slice(1);
  const fastest = Math.min(...starts.slice(1).map((time, index) => time - (starts[index] ?? 0)));
  const detail = `a step with one command takes ${fastest} ms`;
  if (fastest <= slowStepMs) return ok('step', detail);
  const fix =
    'when the machine is idle, Temporal is the reason: set history.transferProcessorMaxPollRPS=1000, matching.numTaskqueueReadPartitions=1 and matching.numTaskqueueWritePartitions=1 in its dynamic configuration';
  return failed('step', detail, fix);
}

async function collect(stream: AsyncIterable<SessionEvent>): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    if (isTerminal(event)) break;
  }
  return events;
}
