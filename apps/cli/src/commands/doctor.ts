import type { Check } from '../doctor/check.ts';
import { checkHost } from '../doctor/host-checks.ts';
import { checkStack } from '../doctor/stack-checks.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import { toPaths } from '../stack-start.ts';
import { hasColor, type Terminal } from '../terminal.ts';
import { createPaint } from '../view/paint.ts';

/** Looks and changes nothing, but for one closed session of the trial. Exit code 1 when something is wrong. */
export async function doctor(terminal: Terminal, request: { json: boolean }): Promise<ExitCode> {
  const paths = toPaths(terminal);
  const host = await checkHost({ paths, env: terminal.env, nodeVersion: process.versions.node });
  const checks = [...host, ...(await checkStack(terminal, paths))];
  const healthy = checks.every(({ state }) => state !== 'failed');
  if (request.json) terminal.stdout.write(`${JSON.stringify({ ok: healthy, checks })}\n`);
  else terminal.stdout.write(toText(checks, hasColor(terminal.stdout, terminal.env)));
  return healthy ? exitCodes.ok : exitCodes.failed;
}

function toText(checks: readonly Check[], color: boolean): string {
  const paint = createPaint({ color });
  const width = Math.max(...checks.map(({ name }) => name.length));
  const marks = { ok: paint.green('✔'), failed: paint.red('✘'), skipped: paint.dim('-') };
  return checks
    .map((check) => {
      const fix = check.state === 'failed' ? `\n    → ${check.fix}` : '';
      return `${marks[check.state]} ${check.name.padEnd(width)}  ${check.detail}${fix}\n`;
    })
    .join('');
}
