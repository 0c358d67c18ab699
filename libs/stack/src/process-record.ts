import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { readDisposableJsonFile, writeJsonFile } from './json-file.ts';
import { isSameProcessAlive, readBootId, readStartTime } from './process-identity.ts';

const recordedProcessSchema = z.object({
  name: z.string(),
  roles: z.array(z.string()),
  pid: z.number().int(),
  startTime: z.string(),
});

const recordSchema = z.object({
  bootId: z.string(),
  controlSocket: z.string(),
  supervisor: z.object({ pid: z.number().int(), startTime: z.string() }),
  processes: z.array(recordedProcessSchema),
});

export type RecordedProcess = z.infer<typeof recordedProcessSchema>;
export type StackRecord = z.infer<typeof recordSchema>;

/** What the last supervisor wrote down, also after it ended; null when there was none. */
export function readRecord(file: string): StackRecord | null {
  return readDisposableJsonFile(file, recordSchema);
}

/** The processes of the record that are alive; none after a reboot. */
export function listSurvivors(record: StackRecord | null): RecordedProcess[] {
  if (record === null || record.bootId !== readBootId()) return [];
  return record.processes.filter(isSameProcessAlive);
}

/** Written by the supervisor that holds the lock, on disk before the next process starts. */
export type RecordWriter = {
  set(process: { name: string; roles: string[]; pid: number }): void;
  remove(name: string): void;
};

export function createRecord({ file, controlSocket }: { file: string; controlSocket: string }): RecordWriter {
  const processes = new Map<string, RecordedProcess>();
  const supervisor = { pid: process.pid, startTime: readStartTime(process.pid) ?? '' };
  const write = (): void =>
    writeJsonFile(file, {
      bootId: readBootId(),
      controlSocket,
      supervisor,
      processes: [...processes.values()],
    } satisfies StackRecord);
  write();
  return {
    set({ name, roles, pid }) {
      processes.set(name, { name, roles, pid, startTime: readStartTime(pid) ?? '' });
      write();
    },
    remove(name) {
      if (processes.delete(name)) write();
    },
  };
}

const CHECK_MS = 20;

/**
 * Waits until the recorded processes of a supervisor that was killed are gone: first for `patienceMs`, since most end by
 * themselves, then after SIGTERM for as long again, then after SIGKILL. Signals go only to a pid whose start time is
 * the recorded one. The caller holds the supervisor lock.
 */
export async function endSurvivors(
  record: StackRecord | null,
  { patienceMs, onProgress }: { patienceMs: number; onProgress: (line: string) => void },
): Promise<void> {
  if (listSurvivors(record).length === 0) return;
  onProgress('waiting for the processes of the last run to end…');
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (await areGone(record, patienceMs)) return;
    for (const { pid } of listSurvivors(record)) signalIfAlive(pid, signal);
  }
  await areGone(record, patienceMs);
}

async function areGone(record: StackRecord | null, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (listSurvivors(record).length > 0) {
    if (Date.now() >= deadline) return false;
    await delay(CHECK_MS);
  }
  return true;
}

/** Sends the signal; a process that is gone already is no error. */
export function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended between the look and the signal.
  }
}
