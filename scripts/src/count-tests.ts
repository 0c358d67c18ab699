// Reads vitest's JSON reports from a folder and prints the one line that counts all tests.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

type Report = { numPassedTests: number; numFailedTests: number; numPendingTests: number };

const folder = process.argv[2];
if (folder === undefined) throw new Error('usage: count-tests FOLDER');
const reports = readdirSync(folder).map(
  (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Report,
);
const sum = (pick: (report: Report) => number) => reports.reduce((total, report) => total + pick(report), 0);
const skipped = sum((report) => report.numPendingTests);
const failed = sum((report) => report.numFailedTests);
process.stdout.write(
  `${sum((report) => report.numPassedTests)} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
);
process.exitCode = failed > 0 || reports.length === 0 ? 1 : 0;
