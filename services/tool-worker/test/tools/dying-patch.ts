// dying-patch.ts: a process that applies a patch and is killed before its n-th call that changes the file system.
// Arguments: the call as JSON, the file for the evidence, n. Files are written in pieces, so that death also falls between two of them.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import process from 'node:process';
import type { CallDetail } from '@holdfast/protocol';
import { createApplyPatch } from '../../src/tools/apply-patch/apply-patch.ts';

const changing = [
  'mkdirSync',
  'openSync',
  'fchownSync',
  'fchmodSync',
  'fsyncSync',
  'closeSync',
  'renameSync',
  'unlinkSync',
];

function killBefore(last: number): void {
  let count = 0;
  const step = () => {
    count += 1;
    if (count === last) process.kill(process.pid, 'SIGKILL');
  };
  const functions = fs as unknown as Record<string, (...given: unknown[]) => unknown>;
  for (const name of changing) {
    const original = functions[name];
    functions[name] = (...given) => {
      step();
      return original?.(...given);
    };
  }
  const { writeSync } = fs;
  functions['writeSync'] = (fd, content, at) => {
    step();
    const bytes = content as Buffer;
    const from = at as number;
    return writeSync(fd as number, bytes, from, Math.ceil((bytes.length - from) / 2));
  };
  syncBuiltinESMExports();
}

const [, , input = '', evidenceFile = '', last = ''] = process.argv;
const call = JSON.parse(input) as CallDetail;
const prepared = await createApplyPatch({ workspace: call.context.cwd }).prepare(call);
if (prepared.kind === 'refused') throw new Error(prepared.output.text);
fs.writeFileSync(evidenceFile, JSON.stringify(prepared.evidence));
killBefore(Number(last));
const { signal } = new AbortController();
await prepared.run({ call, key: 'k', signal, emit: () => undefined });
