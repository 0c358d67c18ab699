import { mkdtempSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { writeEdits } from '../../src/file-edits/writer.ts';
import { parsePatch } from '../../src/tools/apply-patch/parser.ts';
import { planPatch } from '../../src/tools/apply-patch/plan.ts';
import { patchCase, type PatchCase } from './codex-patch/cases.ts';
import { applyWithCodex, findCodex } from './codex-patch/program.ts';
import { readTree, writeTree } from './codex-patch/tree.ts';

const codex = findCodex(process.env);
const runs = Number(process.env['HOLDFAST_PATCH_RUNS'] ?? 600);
const reason = 'there is no Codex binary; name one in HOLDFAST_CODEX_BIN';
const seed = process.env['HOLDFAST_PATCH_SEED'];

/** As the standalone program does it: file by file, and what was done before a failure stays. */
function applyFileByFile(patch: string, cwd: string): 0 | 1 {
  try {
    const { hunks } = parsePatch(patch);
    for (const hunk of hunks) {
      const { error } = writeEdits(planPatch({ hunks: [hunk] }, { cwd, roots: [cwd] }));
      if (error !== undefined) return 1;
    }
    return hunks.length === 0 ? 1 : 0;
  } catch {
    return 1;
  }
}

type Outcome = { status: 0 | 1; tree: Record<string, string> };

function toOutcome({ tree, patch }: PatchCase, apply: (patch: string, cwd: string) => 0 | 1): Outcome {
  const folder = mkdtempSync(join(tmpdir(), 'hf-'));
  try {
    const root = join(folder, 'root');
    writeTree(root, tree);
    return { status: apply(patch.replaceAll('{root}', root), root), tree: readTree(root) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('a generated patch', () => {
  test(`does what it does in Codex (${runs} patches)`, { timeout: 60_000 + runs * 400 }, ({ skip }) => {
    if (codex === undefined) {
      writeSync(2, `apply_patch is not compared: ${reason}\n`);
      return skip(reason);
    }
    const seen = { 0: 0, 1: 0 };
    fc.assert(
      fc.property(patchCase, (given) => {
        const theirs = toOutcome(given, (patch, cwd) => applyWithCodex(codex, patch, cwd));
        expect(toOutcome(given, applyFileByFile)).toEqual(theirs);
        seen[theirs.status] += 1;
      }),
      { numRuns: runs, ...(seed === undefined ? {} : { seed: Number(seed) }) },
    );
    expect(Math.min(seen[0], seen[1])).toBeGreaterThan(runs / 5);
  });
});
