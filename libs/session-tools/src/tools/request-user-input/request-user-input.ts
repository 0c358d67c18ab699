import type { Answers } from '@holdfast/protocol';
import { z } from 'zod';
import { declareTool } from '../../declare-tool.ts';

const headerLimit = 12;
const textLimit = 2_000;

const text = z.string().min(1, 'must not be empty').max(textLimit, `must be at most ${textLimit} characters`);

const question = z.object({
  id: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_-]{0,39}$/, 'must be a letter and up to 39 letters, digits, _ or -')
    .describe('Names the question in the output; snake_case.'),
  header: z
    .string()
    .min(1, 'must not be empty')
    .max(headerLimit, `must be at most ${headerLimit} characters`)
    .describe('A word or two to show beside the question.'),
  question: text.describe('One sentence.'),
  options: z
    .array(
      z.object({
        label: text.describe('One to five words.'),
        description: text.describe('What it means to choose this.'),
      }),
    )
    .min(2, 'must have at least 2 options')
    .max(3, 'must have at most 3 options'),
});

const isUnique = (texts: readonly string[]) => new Set(texts).size === texts.length;

export const requestUserInputTool = declareTool(
  {
    name: 'request_user_input',
    folder: import.meta.url,
    input: z.object({
      questions: z
        .array(question)
        .min(1, 'must have at least 1 question')
        .max(3, 'must have at most 3 questions')
        .refine((asked) => isUnique(asked.map(({ id }) => id)), 'must have different ids'),
    }),
    example: {
      questions: [
        {
          id: 'database',
          header: 'Database',
          question: 'Which database should the service use?',
          options: [
            { label: 'Postgres', description: 'What the other services use.' },
            { label: 'SQLite', description: 'Nothing to run beside the service.' },
          ],
        },
      ],
    },
  },
  async ({ questions }, { readAnswers }) => {
    const answers = await readAnswers();
    if (answers) return { kind: 'finished', status: 'ok', text: toOutput(questions, answers) };
    return { kind: 'ask', question: questions.map((asked) => asked.question).join(' '), questions };
  },
);

/** In the order of the questions. */
function toOutput(questions: readonly { id: string }[], given: Answers): string {
  const answers = Object.fromEntries(questions.map(({ id }) => [id, { answers: given[id] ?? [] }]));
  return JSON.stringify({ answers });
}
