// Measures one stack in one run and prints a table and, with --json FILE, the same as JSON.
//   npm run bench -- [--codex PATH] [--steps N] [--only NAME] [--json FILE]
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startTestStack } from '@holdfast/testing';
import { measureCodex } from './codex-measures.ts';
import {
  measureConcurrency,
  measureEventLag,
  measureFirstRequest,
  measureFirstToken,
  measureHistory,
  measureInterrupt,
  measureMemory,
  measureSteps,
} from './measures.ts';
import { toLimitRow, toRatioRow, toSpreadText, toTable, type Row } from './report.ts';

const { values } = parseArgs({
  options: {
    codex: { type: 'string' },
    steps: { type: 'string', default: '60' },
    json: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});
const steps = Number(values.steps);
const tell = (text: string) => process.stderr.write(`${text}\n`);

tell('starting a stack…');
const startedAt = performance.now();
const stack = await startTestStack({ env: { HOLDFAST_HEARTBEAT_TIMEOUT_MS: '15000' } });
const startMs = performance.now() - startedAt;
try {
  const rows: Row[] = [
    { name: 'stack start (cached binaries, new state)', value: `${(startMs / 1000).toFixed(1)} s` },
  ];
  tell('warming up…');
  await measureSteps(stack, 'exec_command true', 30);
  tell('steps, side by side…');
  const firstHalf = values.codex ? await measureCodex(values.codex, stack.model, steps) : undefined;
  const shell = await measureSteps(stack, 'exec_command true', steps);
  const file = await measureSteps(stack, 'apply_patch', steps);
  const first = await measureFirstRequest(stack, 12);
  rows.push(
    toRatioRow('step exec_command true', shell, firstHalf?.shell, 0.75),
    toRatioRow('step apply_patch', file, firstHalf?.patch, 1.2),
    toRatioRow('warm exec → first model request', first, firstHalf?.firstRequest, 1.2),
  );
  if (firstHalf)
    rows.push({ name: 'Codex step, workspace-write sandbox', value: toSpreadText(firstHalf.sandboxed) });
  const token = await measureFirstToken(stack, 20);
  rows.push(
    toLimitRow('added time to first token', toSpreadText(token), { value: token.p50, limit: 5, unit: 'ms' }),
  );
  rows.push({ name: 'event commit → SSE client', value: toSpreadText(await measureEventLag(stack, 30)) });
  const stop = await measureInterrupt(stack, 10);
  rows.push(
    toLimitRow('interrupt → cancelled at the client', toSpreadText(stop), {
      value: stop.p95,
      limit: 1000,
      unit: 'ms',
    }),
  );
  for (const length of values.quick ? [10, 100] : [10, 100, 1000]) {
    tell(`history of ${length} steps…`);
    const size = await measureHistory(stack, length);
    const text = `${size.events.toFixed(1)} events  ${size.bytes.toFixed(0)} bytes a step`;
    rows.push(
      toLimitRow(`Temporal history, ${length} steps`, text, {
        value: size.bytes,
        limit: 2048,
        unit: 'bytes',
      }),
    );
  }
  tell('20 sessions at once…');
  const many = await measureConcurrency(stack, 20, 20);
  rows.push({
    name: '20 sessions at once',
    value: `${many.stepsPerSecond.toFixed(0)} steps/s, step ${toSpreadText(many.step)}`,
  });
  const memory = await measureMemory(stack);
  const text = `${memory.holdfastMb.toFixed(0)} MB, servers ${memory.serversMb.toFixed(0)} MB`;
  rows.push(
    toLimitRow('resident memory', text, {
      value: memory.holdfastMb,
      limit: 700,
      unit: 'MB without the servers',
    }),
  );
  process.stdout.write(`${toTable(rows)}\n`);
  if (values.json) writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`);
} finally {
  await stack.close();
}
