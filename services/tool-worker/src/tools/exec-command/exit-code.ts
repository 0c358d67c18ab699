import { constants } from 'node:os';
import type { ProcessExit } from '../../process-host/protocol.ts';

/** As `timeout(1)` reports it. */
const timedOutCode = 124;
const signalBase = 128;
const signalNumbers: Readonly<Record<string, number>> = constants.signals;

/** As a shell reports it. */
export function toExitCode(exit: ProcessExit): number {
  if (exit.end === 'timed-out') return timedOutCode;
  if (exit.code !== null) return exit.code;
  return signalBase + (signalNumbers[exit.signal ?? ''] ?? 0);
}
