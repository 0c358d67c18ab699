import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCommandLine } from '../src/command-line.ts';
import { parseExecArguments } from '../src/exec-arguments.ts';

const silent = { version: '0', out: () => undefined, err: () => undefined };

const word = fc.constantFrom('go', 'fix it', '-', '', 'a=b', '/tmp');
const argument = fc.oneof(
  word.map((prompt) => [prompt]),
  fc.constantFrom(['--json'], ['--local'], ['--'], ['--help'], ['-x'], ['--jsonx'], ['--cd'], ['-C']),
  fc.tuple(fc.constantFrom('-C', '--cd', '-m', '--model', '--machine', '--script'), word),
  fc.tuple(fc.constantFrom('-C', '-m'), word).map(([flag, value]) => [`${flag}${value}`]),
  fc
    .tuple(fc.constantFrom('--cd', '--model', '--approval'), word)
    .map(([flag, value]) => [`${flag}=${value}`]),
  fc.constantFrom(['--approval', 'always'], ['--approval', 'never'], ['--approval', 'maybe']),
);

test('what the quick parser takes, it takes exactly as the full one does', () => {
  fc.assert(
    fc.property(fc.array(argument, { maxLength: 5 }), (parts) => {
      const argv = ['exec', ...parts.flat()];
      const quick = parseExecArguments(argv);
      if (quick === undefined) return;
      expect({ kind: 'run', request: { command: 'exec', ...quick } }).toEqual(parseCommandLine(argv, silent));
    }),
    { numRuns: 2_000 },
  );
});

test('the quick parser takes an ordinary command line', () => {
  expect(parseExecArguments(['exec', '--json', '-C', '/tmp', 'go'])).toEqual({
    prompt: 'go',
    json: true,
    cd: '/tmp',
    model: undefined,
    machine: undefined,
    script: undefined,
    local: false,
    approval: 'never',
  });
});

test.each([[['exec', '--help']], [['exec', '--wrong']], [['exec', 'a', 'b']], [['up']], [[]]])(
  'the quick parser leaves %j to the full one',
  (argv) => {
    expect(parseExecArguments(argv)).toBeUndefined();
  },
);
