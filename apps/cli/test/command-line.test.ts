import { describe, expect, test } from 'vitest';
import { parseCommandLine, type Request } from '../src/command-line.ts';

function parse(...argv: string[]) {
  const text = { out: '', err: '' };
  const parsed = parseCommandLine(argv, {
    version: '1.2.3',
    out: (piece) => (text.out += piece),
    err: (piece) => (text.err += piece),
  });
  return { parsed, ...text };
}

const execDefaults = {
  command: 'exec',
  prompt: undefined,
  json: false,
  cd: undefined,
  model: undefined,
  machine: undefined,
  script: undefined,
  local: false,
  approval: 'never',
} as const;

describe('a command line', () => {
  const cases: [string, Request][] = [
    ['exec', execDefaults],
    ['exec -', { ...execDefaults, prompt: '-' }],
    [
      'exec --json -C /tmp -m gpt-6 --machine gpu-1 --script s.json --local --approval always go',
      {
        command: 'exec',
        prompt: 'go',
        json: true,
        cd: '/tmp',
        model: 'gpt-6',
        machine: 'gpu-1',
        script: 's.json',
        local: true,
        approval: 'always',
      },
    ],
    ['exec --tools minimal go', { ...execDefaults, prompt: 'go', tools: 'minimal' }],
    ['resume s1 more', { command: 'resume', sessionId: 's1', prompt: 'more', json: false }],
    ['resume s1 --json', { command: 'resume', sessionId: 's1', prompt: undefined, json: true }],
    ['attach s1', { command: 'attach', sessionId: 's1', json: false }],
    ['interrupt s1', { command: 'interrupt', sessionId: 's1' }],
    ['approve s1 ap_1.1.0', { command: 'approve', sessionId: 's1', approvalId: 'ap_1.1.0', decline: false }],
    ['approve s1 ap_1 --decline', { command: 'approve', sessionId: 's1', approvalId: 'ap_1', decline: true }],
    ['events s1', { command: 'events', sessionId: 's1', json: false, follow: false }],
    ['events s1 --json --follow', { command: 'events', sessionId: 's1', json: true, follow: true }],
    ['ps s1', { command: 'ps', sessionId: 's1', json: false }],
    ['ps s1 --json', { command: 'ps', sessionId: 's1', json: true }],
    ['kill s1 1234', { command: 'kill', sessionId: 's1', id: 1234 }],
    ['clean s1', { command: 'clean', sessionId: 's1' }],
    ['sessions --json', { command: 'sessions', json: true }],
    ['machines', { command: 'machines', json: false }],
    ['worker start --name gpu-1 --workspace /w', { command: 'worker', name: 'gpu-1', workspace: '/w' }],
    ['up --split --json', { command: 'up', split: true, json: true }],
    ['up', { command: 'up', split: false, json: false }],
    ['down', { command: 'down' }],
    ['status --json', { command: 'status', json: true }],
    ['logs', { command: 'logs', role: undefined, follow: false }],
    ['logs session-api -f', { command: 'logs', role: 'session-api', follow: true }],
    ['doctor --json', { command: 'doctor', json: true }],
    ['demo', { command: 'demo' }],
  ];

  test.each(cases)('`%s` is understood', (line, request) => {
    expect(parse(...line.split(' '))).toEqual({ parsed: { kind: 'run', request }, out: '', err: '' });
  });

  test('that asks for the version gets it on stdout and ends well', () => {
    expect(parse('--version')).toEqual({ parsed: { kind: 'end', exitCode: 0 }, out: '1.2.3\n', err: '' });
  });

  test('that asks for help gets it on stdout and ends well', () => {
    const { parsed, out, err } = parse('exec', '--help');
    expect({ parsed, err }).toEqual({ parsed: { kind: 'end', exitCode: 0 }, err: '' });
    expect(out).toContain('Usage: holdfast exec [options] [prompt]');
  });

  const wrong: [string, string][] = [
    ['exce hi', "error: unknown command 'exce'"],
    ['exec --jsn', "error: unknown option '--jsn'"],
    ['exec one two', "error: too many arguments for 'exec'"],
    ['exec --approval sometimes hi', "argument 'sometimes' is invalid. Allowed choices are never, always."],
    ['resume', "error: missing required argument 'session'"],
    ['worker start --name a', "error: required option '--workspace <dir>' not specified"],
  ];

  test.each(wrong)('`%s` ends with 2 and says why on stderr', (line, complaint) => {
    const { parsed, out, err } = parse(...line.split(' '));
    expect({ parsed, out }).toEqual({ parsed: { kind: 'end', exitCode: 2 }, out: '' });
    expect(err).toContain(complaint);
  });

  test('without a command ends with 2 and shows what there is', () => {
    const { parsed, err } = parse();
    expect(parsed).toEqual({ kind: 'end', exitCode: 2 });
    expect(err).toContain('Usage: holdfast [options] [command]');
  });
});
