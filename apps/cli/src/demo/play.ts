// play.ts: runs the scripted session of the demo, shows it, and kills what is to be killed at the right moments.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Delta, SessionEvent } from '@holdfast/protocol';
import { isTerminal } from '@holdfast/protocol';
import { createSessionClient, type RemoteSession } from '@holdfast/session-client';
import type { StackInfo, StackPaths } from '@holdfast/stack';
import { CliError, exitCodes } from '../exit-codes.ts';
import { localMachine } from '../stack-environment.ts';
import { hasColor, type Terminal } from '../terminal.ts';
import { toSeconds } from '../view/call-text.ts';
import { createHumanView } from '../view/human-view.ts';
import { createPaint, type Paint } from '../view/paint.ts';
import { awaitRecovery, killRole, type Kill, type Recovery } from './kills.ts';
import { readDiff, type DemoProject } from './project.ts';
import type { DemoOutcome } from './report.ts';
import { commandNames, finalStep, toCommandName, toDemoScript } from './script.ts';

const effectPollMs = 25;
/** How far into the test run the tool worker is killed; the run takes three times as long. */
const intoTestsMs = 1_000;
/** Pieces of the last answer that arrive before the orchestrator is killed. */
const piecesBeforeKill = 4;

type Stage = { project: DemoProject; paths: StackPaths; stack: StackInfo; signal: AbortSignal };
type KillOutcome = { kill: Kill; recovery: Recovery | undefined };
type Play = Stage & { paint: Paint; print: (line: string) => void };

/** @throws the signal's reason when it aborts before the turn has ended */
export async function playDemo(terminal: Terminal, stage: Stage): Promise<DemoOutcome> {
  const { project, signal, stack } = stage;
  signal.throwIfAborted();
  if (stack.sessionApiUrl === null)
    throw new CliError(exitCodes.failed, 'The demo has no session-api; see its logs.');
  const client = createSessionClient({ url: stack.sessionApiUrl, token: stack.secrets.apiToken });
  const { sessionId } = await client.createSession({
    settings: {
      cwd: project.repository,
      machine: localMachine,
      model: { name: 'scripted', script: toDemoScript() },
    },
    input: { inputId: randomUUID(), text: 'A test of this project fails. Find out why and repair it.' },
  });
  const paint = createPaint({ color: hasColor(terminal.stdout, terminal.env) });
  const play = { ...stage, paint, print: (line: string) => terminal.stdout.write(`${line}\n`) };
  const { events, kills } = await watch(play, client.open(sessionId));
  signal.throwIfAborted();
  const effects = (await readFile(project.effectsFile, 'utf8')).split('\n').filter((line) => line !== '');
  return { events, kills, effects, diff: await readDiff(project.repository, terminal.env) };
}

/** The events up to the end of the turn, and what became of the processes that were killed meanwhile. */
async function watch(play: Play, session: RemoteSession): Promise<Pick<DemoOutcome, 'events' | 'kills'>> {
  const view = createHumanView({
    sessionId: session.sessionId,
    paint: play.paint,
    live: false,
    showPrompt: true,
  });
  const events: SessionEvent[] = [];
  const kills: Promise<KillOutcome>[] = [];
  const answer = { pieces: 0 };
  const onDelta = (delta: Delta): void => {
    if (delta.kind !== 'text' || delta.step !== finalStep) return;
    answer.pieces += 1;
    if (answer.pieces === piecesBeforeKill)
      kills.push(kill(play, { role: 'orchestrator', during: 'the last answer' }));
  };
  for await (const event of session.events({ signal: play.signal, onDelta })) {
    events.push(event);
    for (const line of view.event(event)) play.print(line);
    if (event.type === 'tool_call' && toCommandName(event.input) === commandNames.firstTests) {
      kills.push(killInTests(play));
    }
    if (isTerminal(event)) break;
  }
  play.print(view.answer());
  return { events, kills: await Promise.all(kills) };
}

async function killInTests(play: Play): Promise<KillOutcome> {
  const { project, signal } = play;
  while (!(await readFile(project.effectsFile, 'utf8')).includes(commandNames.firstTests)) {
    await delay(effectPollMs, undefined, { signal });
  }
  await delay(intoTestsMs, undefined, { signal });
  return kill(play, { role: `tool-worker:${localMachine}`, during: 'the first test run' });
}

async function kill(play: Play, target: { role: string; during: string }): Promise<KillOutcome> {
  const { paint, paths, print } = play;
  const killed = await killRole(paths, target);
  print(paint.red(`── kill -9 ${target.role} (pid ${killed.pid}) ──`));
  const recovery = await awaitRecovery(paths, killed);
  const back = recovery
    ? `is back as pid ${recovery.pid} after ${toSeconds(recovery.tookMs)}`
    : 'did not come back';
  print(paint.green(`── ${target.role} ${back} ──`));
  return { kill: killed, recovery };
}
