// session.ts: one session = one workflow, as a chain of runs. Wires messages to state and state to the loop; decides nothing itself.
// Owns: the order of turns, what an update does, when a run continues as new.
// Does not own: the order inside a turn (libs/agent-loop), where a call runs (call-dispatch.ts).
// W1  Handlers are synchronous: they change state and return; no update waits for a turn.
// W2  A run continues as new only between steps, from here, and never in a task that also handled an update
//     (the server may report such an update as lost).
// W3  What goes into the next run is `SessionQueue`, references only; `SessionControl` never does.
import {
  acceptInput,
  createQueue,
  endTurn,
  requestToolRefresh,
  runTurn,
  takeTurn,
} from '@holdfast/agent-loop';
import type { SessionQueue, TurnOutcome, TurnState } from '@holdfast/agent-loop';
import {
  approveUpdate,
  closeUpdate,
  interruptUpdate,
  refreshToolsUpdate,
  stateQuery,
  submitUpdate,
} from '@holdfast/contracts';
import type { SessionArgs } from '@holdfast/contracts';
import {
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { createActivities, type SessionActivities } from './activities.ts';
import { createCallDispatch } from './call-dispatch.ts';
import { createControl, interruptTurn, type SessionControl } from './control.ts';

export async function session(args: SessionArgs): Promise<void> {
  const queue = args.carried ?? createQueue(args.sessionId);
  const control = createControl();
  registerHandlers(queue, control);
  const activities = createActivities(args);
  for (;;) {
    await condition(() => queue.closing || queue.turn !== undefined || queue.queue.length > 0);
    const turn = queue.closing ? undefined : takeTurn(queue);
    if (!turn) break;
    const outcome = await driveTurn({ args, control, activities }, turn);
    if (outcome.kind === 'ended') {
      await activities.history.sealTurn({ sessionId: args.sessionId, turnId: turn.turnId, end: outcome.end });
    }
    if (outcome.kind !== 'suspended') endTurn(queue);
    if (shouldContinueAsNew(args, control)) await carryOn(args, queue);
  }
  await condition(allHandlersFinished);
}

function registerHandlers(queue: SessionQueue, control: SessionControl): void {
  const handled = () => {
    control.lastUpdateAt = workflowInfo().historyLength;
  };
  setHandler(stateQuery, () => queue);
  setHandler(submitUpdate, (input) => {
    handled();
    acceptInput(queue, input);
  });
  setHandler(interruptUpdate, ({ turnId }) => {
    handled();
    if (queue.turn?.turnId === turnId) interruptTurn(control);
  });
  setHandler(approveUpdate, ({ approvalId }) => {
    handled();
    control.decided.add(approvalId);
  });
  setHandler(refreshToolsUpdate, () => {
    handled();
    requestToolRefresh(queue);
  });
  setHandler(closeUpdate, () => {
    handled();
    queue.closing = true;
    interruptTurn(control);
  });
}

type TurnDrive = { args: SessionArgs; control: SessionControl; activities: SessionActivities };

async function driveTurn({ args, control, activities }: TurnDrive, turn: TurnState): Promise<TurnOutcome> {
  const abort = new AbortController();
  const scope = new CancellationScope({ cancellable: true });
  control.interrupt = () => {
    abort.abort(new CancelledFailure('interrupted'));
    scope.cancel();
  };
  const ports = { model: activities.model, calls: createCallDispatch({ args, control, activities, turn }) };
  const shouldSuspend = () => {
    control.stepsInRun += 1;
    return shouldContinueAsNew(args, control);
  };
  const { sessionId } = args;
  const outcome = await scope.run(() =>
    runTurn(ports, turn, { sessionId, signal: abort.signal, shouldSuspend }),
  );
  delete control.interrupt;
  return outcome;
}

function shouldContinueAsNew(args: SessionArgs, control: SessionControl): boolean {
  const info = workflowInfo();
  if (control.lastUpdateAt === info.historyLength) return false; // W2
  return info.continueAsNewSuggested || control.stepsInRun >= args.tuning.stepsPerRun;
}

async function carryOn(args: SessionArgs, queue: SessionQueue): Promise<never> {
  await condition(allHandlersFinished);
  return continueAsNew<typeof session>({ ...args, carried: queue });
}
