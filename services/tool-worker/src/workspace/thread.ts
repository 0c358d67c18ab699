// thread.ts: the worker thread that looks after the workspaces of a machine: looking at many files would block the machine's own.
import { parentPort, workerData } from 'node:worker_threads';
import { WorkspaceHistory } from './history.ts';
import type { Answer, Question, QuestionName, Questions, ThreadOptions } from './messages.ts';

/** Calls that follow each other faster share a look. */
const settleDelayMs = 30;
/** Written down at rest: after a crash the next process reads again what changed since. */
const saveDelayMs = 1_000;

type Answers = { [N in QuestionName]: (given: Questions[N]['given']) => Questions[N]['answer'] };

function createAnswers(history: WorkspaceHistory): Answers {
  return {
    warm: ({ cwd }) => history.warm(cwd),
    begin: (start) => history.begin(start),
    end: (call) => history.end(call),
    spoil: (call) => history.spoil(call),
    noteRead: (read) => history.noteRead(read),
    undo: (request) => history.undo(request),
    diff: (turn) => history.diff(turn),
    close: () => history.close(),
  };
}

function answer(answers: Answers, { id, name, given }: Question): Answer {
  try {
    const ask = answers[name] as (given: unknown) => unknown;
    return { id, answer: ask(given) };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

/** A look that fails here is tried again, and its failure told, by whoever needs it. */
function settle(history: WorkspaceHistory): void {
  try {
    history.settle();
  } catch {
    // The windows of the calls stay without an end, which undo tells.
  }
}

function serve(port: NonNullable<typeof parentPort>): void {
  const history = new WorkspaceHistory(workerData as ThreadOptions);
  const answers = createAnswers(history);
  let timer: NodeJS.Timeout | undefined;
  const rest = () => {
    settle(history);
    timer = setTimeout(() => history.save(), saveDelayMs);
  };
  port.on('message', (question: Question) => {
    clearTimeout(timer);
    port.postMessage(answer(answers, question));
    if (question.name === 'close') port.close();
    else timer = setTimeout(rest, settleDelayMs);
  });
}

if (parentPort) serve(parentPort);
