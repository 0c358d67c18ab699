import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder of the running test, gone afterwards. */
export function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hf-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
