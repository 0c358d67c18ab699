import type { Answers, Question } from '@holdfast/protocol';
import { toOneLine } from './call-text.ts';
import type { Paint } from './paint.ts';

const textLimit = 200;

/** The questions with their numbered options, and the command that answers them from any terminal. */
export function toQuestionLines(
  questions: readonly Question[],
  options: { paint: Paint; sessionId: string; approvalId: string },
): string[] {
  const { paint, sessionId, approvalId } = options;
  const lines = questions.flatMap(({ id, header, question, options: choices }) => [
    paint.yellow(
      `? ${toOneLine(header, textLimit)}: ${toOneLine(question, textLimit)}${questions.length > 1 ? ` (${id})` : ''}`,
    ),
    ...choices.map(
      ({ label, description }, index) =>
        `  ${index + 1}. ${toOneLine(label, textLimit)} ${paint.dim(`– ${toOneLine(description, textLimit)}`)}`,
    ),
  ]);
  const answers = questions.length > 1 ? questions.map(({ id }) => `${id}=1`).join(' ') : '1';
  return [
    ...lines,
    `  answer with: holdfast answer ${sessionId} ${approvalId} ${answers}`,
    paint.dim('  a number chooses an option; any other text is an answer, too'),
  ];
}

export function toAnswerLine(answers: Answers): string {
  return toOneLine(Object.values(answers).flat().join(', '), textLimit);
}
