import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CallDetail, CallOutput } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import { createApplyPatch } from '../../src/tools/apply-patch/apply-patch.ts';
import { createFolder } from '../folders.ts';
import { never } from '../machines.ts';

const program = fileURLToPath(new URL('dying-patch.ts', import.meta.url));

const patch = [
  '*** Begin Patch',
  '*** Update File: edit',
  '-two',
  '+2',
  '*** Add File: deep/er/new',
  '+hello',
  '*** Add File: over',
  '+new',
  '*** Delete File: go',
  '*** Update File: from',
  '*** Move to: moved/to',
  ' a',
  '+b',
  '*** End Patch',
].join('\n');

/** In the order of writing. */
const files: { path: string; before: string | null; after: string | null }[] = [
  { path: 'edit', before: 'one\ntwo\n', after: 'one\n2\n' },
  { path: 'deep/er/new', before: null, after: 'hello\n' },
  { path: 'over', before: 'old\n', after: 'new\n' },
  { path: 'go', before: 'go\n', after: null },
  { path: 'moved/to', before: null, after: 'a\nb\n' },
  { path: 'from', before: 'a\n', after: null },
];

function setUp(): { cwd: string; call: CallDetail; evidenceFile: string } {
  const folder = createFolder();
  const cwd = join(folder, 'cwd');
  mkdirSync(cwd);
  for (const { path, before } of files) if (before !== null) writeFileSync(join(cwd, path), before);
  chmodSync(join(cwd, 'edit'), 0o750);
  const call: CallDetail = {
    sessionId: 's',
    turnId: 't',
    callId: '1.1.0',
    modelCallId: 'm',
    tool: 'apply_patch',
    form: 'freeform',
    input: patch,
    context: { cwd, approvalPolicy: 'never' },
  };
  return { cwd, call, evidenceFile: join(folder, 'evidence') };
}

const readOrNull = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : null);
const readNow = (cwd: string) => files.map(({ path }) => readOrNull(join(cwd, path)));
const all = (side: 'before' | 'after') => files.map((file) => file[side]);

const toRun = (call: CallDetail) => ({ call, key: 'k', signal: never, emit: () => undefined });

type Observation = {
  killed: boolean;
  stderr: string;
  cwd: string;
  /** What the resolver says: that nothing was started, that all is well, or a text. */
  outcome: string;
  now: (string | null)[];
  drafts: string[];
  /** After the patch was applied once more, as it is when nothing was started. */
  again: (string | null)[];
};

async function dieAt(step: number): Promise<Observation> {
  const { cwd, call, evidenceFile } = setUp();
  const given = [program, JSON.stringify(call), evidenceFile, String(step)];
  const { signal, stderr } = spawnSync(process.execPath, given, { encoding: 'utf8' });
  const tool = createApplyPatch({ workspace: cwd });
  const evidence = JSON.parse(readFileSync(evidenceFile, 'utf8')) as unknown;
  const found = await tool.resolve(toRun(call), { evidence, sameKernelBoot: true });
  const outcome = found === 'not-started' || found.status === 'ok' ? toWord(found) : found.text;
  const now = readNow(cwd);
  const drafts = readdirSync(cwd, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.includes('.draft'),
  );
  if (found === 'not-started') {
    const prepared = await tool.prepare(call);
    if (prepared.kind === 'ready') await prepared.run(toRun(call));
  }
  return { killed: signal === 'SIGKILL', stderr, cwd, outcome, now, drafts, again: readNow(cwd) };
}

const toWord = (found: CallOutput | 'not-started') =>
  found === 'not-started' ? 'not started' : found.status;

/** What the resolver has to say, from the files alone. */
function toTruth({ now, cwd }: Observation): string {
  if (files.every(({ after }, at) => now[at] === after)) return 'ok';
  if (files.every(({ before }, at) => now[at] === before)) return 'not started';
  const sentences = files.map(({ path, before, after }, at) => {
    if (now[at] === after)
      return `${join(cwd, path)} ${after === null ? 'is gone, as wanted' : 'is as wanted'}.`;
    return `${join(cwd, path)} ${before === null ? 'does not exist yet' : 'is as it was before'}.`;
  });
  return (
    'It is not known whether this call took effect; look before doing it again. The worker died while it applied the patch. ' +
    sentences.join(' ')
  );
}

describe('a patch whose worker is killed', () => {
  test(
    'is found as before, as wanted, or told file by file, whatever step it died at',
    { timeout: 300_000 },
    async () => {
      const seen: Observation[] = [];
      for (let step = 1; seen.at(-1)?.killed !== false; step += 1) seen.push(await dieAt(step));
      expect(seen.length).toBeGreaterThan(40);
      expect(seen.flatMap(({ stderr, drafts }) => [stderr, ...drafts]).filter((text) => text !== '')).toEqual(
        [],
      );
      for (const { now } of seen) {
        expect(files.map(({ before, after }, at) => now[at] === before || now[at] === after)).not.toContain(
          false,
        );
      }
      expect(seen.map(({ outcome }) => outcome)).toEqual(seen.map(toTruth));
      const early = seen.filter(({ outcome }) => outcome === 'not started');
      expect(early.map(({ again }) => again)).toEqual(early.map(() => all('after')));
      expect([early.length > 3, seen.length - early.length > 30, seen.at(-1)?.now]).toEqual([
        true,
        true,
        all('after'),
      ]);
    },
  );
});
