// workflow-thread.ts: loaded with `--import` into every thread of the orchestrator, before the SDK's own code.
// In workflow threads it takes away two things that cost a quarter of the CPU of a step and that Holdfast does not use
// (figures and consequences: docs/decisions/0006-workflow-threads-without-watchdog.md):
// the watchdog, for which Node starts an operating-system thread at every call into the sandbox, and the promise hook, which takes a
// stack trace of every promise for a query that nobody asks.
import v8 from 'node:v8';
import vm from 'node:vm';
import { isMainThread } from 'node:worker_threads';

type Run = (this: vm.Script, context: vm.Context, options?: vm.RunningScriptOptions) => unknown;

function runUnwatched(run: Run): Run {
  return function runInContext(context, options = {}) {
    const { timeout: _unused, ...rest } = options;
    return run.call(this, context, rest);
  };
}

if (!isMainThread) {
  const prototype = vm.Script.prototype as { runInContext: Run };
  prototype.runInContext = runUnwatched(prototype.runInContext);
  v8.promiseHooks.createHook = () => () => undefined;
}
