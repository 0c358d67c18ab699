// bundle-workflows.ts: writes the workflow bundle to the path given as its only argument.
import { bundleWorkflows } from '@holdfast/orchestrator';

const [path] = process.argv.slice(2);
if (path === undefined) {
  process.stderr.write('usage: bundle-workflows PATH\n');
  process.exit(2);
}
await bundleWorkflows(path);
