// measures.ts: what is measured, each against a running stack. Times in milliseconds.
import type { SessionEvent } from '@holdfast/protocol';
import { answer, command, driveSession, script, type DrivenSession, type TestStack } from '@holdfast/testing';
import { readHistorySize, type HistorySize } from './history-size.ts';
import { toSpread, type Spread } from './statistics.ts';
import { toStepGaps, toStepScript, toStepSpread, warmUpSteps, type StepKind } from './steps.ts';

async function runSteps(
  stack: TestStack,
  kind: StepKind,
  steps: number,
): Promise<{ session: DrivenSession; scriptId: string }> {
  const session = await driveSession(stack, toStepScript(kind, steps), { prompt: 'go' });
  await session.untilTurnEnds();
  return { session, scriptId: session.scriptId };
}

export async function measureSteps(stack: TestStack, kind: StepKind, steps: number): Promise<Spread> {
  const { scriptId } = await runSteps(stack, kind, steps);
  return toStepSpread(stack.model, scriptId);
}

/** From the start of a warm `./holdfast exec` to the complete first request at the model. */
export async function measureFirstRequest(stack: TestStack, runs: number): Promise<Spread> {
  const times: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const id = `first-request-${run}`;
    const env = stack.play(id, script(answer('hi')));
    const cwd = stack.folder();
    const startedAt = performance.now();
    const exec = stack.start(['exec', 'go'], { env, cwd });
    const request = await stack.model.waitForRequest(({ scriptId }) => scriptId === id);
    times.push(request.receivedAt - startedAt);
    await exec.result;
  }
  return toSpread(times);
}

/** From the first byte of a reply leaving the model to its first text delta at an SSE client. */
export async function measureFirstToken(stack: TestStack, turns: number): Promise<Spread> {
  const replies = Array.from({ length: turns }, (_, turn) => ({
    ...answer(`token of turn ${turn}`),
    chunk: { size: 1000, delayMs: 30 },
  }));
  const session = await driveSession(stack, script(...replies));
  const arrived: number[] = [];
  const stop = new AbortController();
  let ended = 0;
  const ends = Array.from({ length: turns }, () => Promise.withResolvers<void>());
  const onDelta = () => arrived.push(performance.now());
  const following = (async () => {
    for await (const event of session.events({ signal: stop.signal, onDelta })) {
      if (event.type === 'status' && event.status === 'completed') ends[ended++]?.resolve();
    }
  })();
  for (const end of ends) {
    await session.prompt();
    await end.promise;
  }
  stop.abort();
  await following;
  const sent = stack.model.requests.filter((request) => request.scriptId === session.scriptId);
  return toSpread(
    sent.slice(1).map((request, index) => (arrived[index + 1] ?? 0) - (request.firstByteAt ?? 0)),
  );
}

/** From the commit of an event to its arrival at an SSE client of the session-api. */
export async function measureEventLag(stack: TestStack, steps: number): Promise<Spread> {
  const session = await driveSession(stack, toStepScript('exec_command true', steps));
  const stop = new AbortController();
  const lags: number[] = [];
  const note = (event: SessionEvent) => lags.push(Date.now() - Date.parse(event.at));
  const following = (async () => {
    for await (const event of session.events({ signal: stop.signal })) {
      note(event);
      if (event.type === 'status' && event.status === 'completed') break;
    }
  })();
  await session.prompt();
  await following;
  stop.abort();
  return toSpread(lags);
}

/** Temporal's own figures over all runs of the session, submission and seal included, divided by its steps. */
export async function measureHistory(stack: TestStack, steps: number): Promise<HistorySize> {
  const { session } = await runSteps(stack, 'exec_command true', steps);
  const size = await readHistorySize(stack.addresses()['temporal'] ?? '', session.sessionId);
  const ran = steps + warmUpSteps;
  return { events: size.events / ran, bytes: size.bytes / ran };
}

/** From the call of `interrupt` to the terminal status at an SSE client, while a command runs. */
export async function measureInterrupt(stack: TestStack, turns: number): Promise<Spread> {
  const replies = Array.from({ length: turns }, () => command('sleep 60'));
  const session = await driveSession(stack, script(...replies));
  const times: number[] = [];
  for (let turn = 1; turn <= turns; turn += 1) {
    await session.prompt();
    let started = 0;
    await session.until((event) => event.type === 'tool_call' && (started += 1) === turn);
    const ended = session.untilTurnEnds(turn);
    const startedAt = performance.now();
    await session.interrupt();
    await ended;
    times.push(performance.now() - startedAt);
  }
  return toSpread(times);
}

export type Concurrency = { stepsPerSecond: number; step: Spread };

export async function measureConcurrency(
  stack: TestStack,
  sessions: number,
  steps: number,
): Promise<Concurrency> {
  const startedAt = performance.now();
  const runs = await Promise.all(
    Array.from({ length: sessions }, () => runSteps(stack, 'exec_command true', steps)),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  const gaps = runs.flatMap(({ scriptId }) => toStepGaps(stack.model, scriptId));
  return { stepsPerSecond: (sessions * steps) / seconds, step: toSpread(gaps) };
}

export type Memory = { holdfastMb: number; serversMb: number };

export async function measureMemory(stack: TestStack): Promise<Memory> {
  const servers = new Set(['temporal', 'postgres', 'nats']);
  const byPid = new Map((await stack.processes()).map((row) => [row.pid, row]));
  const rows = [...byPid.values()];
  const sum = (wanted: boolean) =>
    rows.filter((row) => servers.has(row.role) === wanted).reduce((total, row) => total + row.rssMb, 0);
  return { holdfastMb: sum(false), serversMb: sum(true) };
}
