// thread.ts: the worker thread that looks after the workspaces of a machine: looking at many files would block the machine's own.
import { parentPort, workerData } from 'node:worker_threads';
import { WorkspaceHistory } from './history.ts';
import type { Answer, Question, QuestionName, Questions, ThreadOptions } from './messages.ts';

/** Written down at rest: after a crash the next process reads again what changed since. */
const saveDelayMs = 1_000;

type Answers = { [N in QuestionName]: (given: Questions[N]['given']) => Questions[N]['answer'] };

function createAnswers(history: WorkspaceHistory): Answers {
  return {
    warm: ({ cwd }) => history.warm(cwd),
    begin: (start) => {
      const startedAt = performance.now();
      const conflicts = history.begin(start);
      return { conflicts, lookMs: performance.now() - startedAt };
    },
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

function serve(port: NonNullable<typeof parentPort>): void {
  const history = new WorkspaceHistory(workerData as ThreadOptions);
  const answers = createAnswers(history);
  let timer: NodeJS.Timeout | undefined;
  port.on('message', (question: Question) => {
    clearTimeout(timer);
    port.postMessage(answer(answers, question));
    if (question.name === 'close') port.close();
    else timer = setTimeout(() => history.save(), saveDelayMs).unref();
  });
}

if (parentPort) serve(parentPort);
