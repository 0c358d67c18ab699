import { defineConfig } from 'vitest/config';

const common = { testTimeout: 60_000, hookTimeout: 60_000, silent: 'passed-only' as const };
let suites = 0;
/** Suites run one after the other, each with its files in sequence: they start servers and share two cores. */
const suite = (name: string, { maxWorkers = 1, env = {}, folder = name, exclude = [] as string[] } = {}) => ({
  test: {
    ...common,
    name,
    env,
    include: [`test/${folder}/src/**/*.test.ts`],
    exclude,
    testTimeout: 300_000,
    hookTimeout: 900_000,
    maxWorkers,
    fileParallelism: maxWorkers > 1,
    sequence: { groupOrder: (suites += 1) },
  },
});

const reports = process.env['HOLDFAST_TEST_REPORTS'];

// Unit tests need nothing but Node; the named suites start real servers.
export default defineConfig({
  test: {
    reporters: reports
      ? ['default', ['json', { outputFile: `${reports}/${process.pid}.json` }]]
      : ['default'],
    projects: [
      { test: { ...common, name: 'unit', include: ['{apps,libs,services}/*/test/**/*.test.ts'] } },
      suite('architecture', { maxWorkers: 2 }),
      suite('replay'),
      suite('conformance'),
      suite('parity'),
      suite('e2e'),
      // Every workflow task replays its whole history: what is not deterministic shows.
      suite('e2e-uncached', {
        env: { HOLDFAST_TEST_WORKFLOW_CACHE_SIZE: '0' },
        folder: 'e2e',
        // Every request in it is refused at the door, so no workflow starts.
        exclude: ['test/e2e/src/http-mistakes.test.ts'],
      }),
      suite('chaos'),
    ],
  },
});
