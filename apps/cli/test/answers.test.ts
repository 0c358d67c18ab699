import type { Question } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import { toAnswers } from '../src/answers.ts';

const options = [
  { label: 'Red', description: 'warm' },
  { label: 'Blue', description: 'cold' },
];
const color: Question = { id: 'color', header: 'Color', question: 'Which color?', options };
const size: Question = { id: 'size', header: 'Size', question: 'Which size?', options };
const one = { approvalId: 'ap_1.1.0', questions: [color] };
const two = { approvalId: 'ap_1.1.0', questions: [color, size] };

describe('what is typed after `holdfast answer`', () => {
  test.each([
    [one, ['2'], { color: ['Blue'] }],
    [one, ['Red'], { color: ['Red'] }],
    [one, ['something=else entirely'], { color: ['something=else entirely'] }],
    [one, ['color=1'], { color: ['Red'] }],
    [one, ['1', 'but darker'], { color: ['Red', 'but darker'] }],
    [two, ['size=2', 'color=a=b'], { size: ['Blue'], color: ['a=b'] }],
    [two, ['color=1'], { color: ['Red'] }],
  ])('to %j as %j means %j', (approval, given, answers) => {
    expect(toAnswers(approval, given)).toEqual(answers);
  });

  test.each([
    [
      { approvalId: 'ap_1.1.0' },
      ['1'],
      'ap_1.1.0 is a yes-or-no question; answer it with `holdfast approve`.',
    ],
    [one, ['3'], 'The question color has options 1 to 2; 3 is none of them.'],
    [one, ['0'], 'The question color has options 1 to 2; 0 is none of them.'],
    [one, [' '], 'The answer to color is empty.'],
    [two, ['1'], '"1" does not say which question it answers; give color=ANSWER size=ANSWER.'],
  ])('to %j as %j is refused with a sentence', (approval, given, message) => {
    expect(() => toAnswers(approval, given)).toThrow(message);
  });
});
