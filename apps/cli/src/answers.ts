// answers.ts: what a person typed after `holdfast answer`, as answers to the questions of an approval.
import type { Answers, Approval, Question } from '@holdfast/protocol';
import { usageError } from './exit-codes.ts';

/**
 * `ID=ANSWER` for each question; a single question needs no `ID=`. A number is the option at that place, from 1; text is taken as it is.
 * @throws CliError (2)
 */
export function toAnswers(
  approval: Pick<Approval, 'approvalId' | 'questions'>,
  given: readonly string[],
): Answers {
  const { approvalId, questions } = approval;
  if (!questions)
    throw usageError(`${approvalId} is a yes-or-no question; answer it with \`holdfast approve\`.`);
  const answers = new Map<string, string[]>();
  for (const text of given) {
    const { question, answer } = toPair(questions, text);
    const label = toLabel(question, answer);
    answers.set(question.id, [...(answers.get(question.id) ?? []), label]);
  }
  return Object.fromEntries(answers);
}

function toPair(questions: readonly Question[], text: string): { question: Question; answer: string } {
  for (const question of questions) {
    const prefix = `${question.id}=`;
    if (text.startsWith(prefix)) return { question, answer: text.slice(prefix.length) };
  }
  const [only] = questions;
  if (only && questions.length === 1) return { question: only, answer: text };
  const ids = questions.map(({ id }) => `${id}=ANSWER`).join(' ');
  throw usageError(`"${text}" does not say which question it answers; give ${ids}.`);
}

function toLabel({ id, options }: Question, answer: string): string {
  if (answer.trim() === '') throw usageError(`The answer to ${id} is empty.`);
  if (!/^\d+$/.test(answer)) return answer;
  const option = options[Number(answer) - 1];
  if (option) return option.label;
  throw usageError(`The question ${id} has options 1 to ${options.length}; ${answer} is none of them.`);
}
