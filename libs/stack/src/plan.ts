import { z } from 'zod';
import { StackError, stackCodes } from './stack-error.ts';

const readinessSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('http'), url: z.url() }),
  z.object({ kind: z.literal('tcp'), host: z.string().min(1), port: z.number().int() }),
]);

/** The part of a process description that fits on a wire: what `add-process` accepts. */
export const processSpecSchema = z.object({
  name: z.string().regex(/^[a-z0-9][a-z0-9.-]*$/),
  roles: z.array(z.string().min(1)).min(1),
  command: z.string().min(1),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()),
  cwd: z.string().min(1),
  dependsOn: z.array(z.string()),
  uses: z.array(z.string()).exactOptional(),
  readiness: readinessSchema,
  addresses: z.record(z.string(), z.string()),
  stopSignal: z.enum(['SIGTERM', 'SIGINT', 'SIGQUIT']),
  stopTimeoutMs: z.number().int().min(0),
  parentPipe: z.boolean(),
});

/** `probe` resolves to whether the process serves; it throws a `StackError` when it never will. */
export type Readiness = z.infer<typeof readinessSchema> | { kind: 'probe'; probe: () => Promise<boolean> };

/**
 * One process of the stack. `name` is unique and names the log file; `roles` are what it does for people (several may
 * share a process); `env` is the whole environment, nothing is inherited; `addresses` says where each role listens.
 * `parentPipe` gives it a pipe as stdin and HOLDFAST_PARENT_PIPE=1: it must exit when that pipe ends, which is how it
 * follows a supervisor that was killed. `prepare` runs before every start of the process.
 * It is started after those in `dependsOn` serve; those in `uses` it does without while it starts. It is stopped before both.
 */
export type ProcessSpec = Omit<z.infer<typeof processSpecSchema>, 'readiness'> & {
  readiness: Readiness;
  prepare?: () => Promise<void>;
};

/**
 * The processes in an order in which each comes after those it depends on or uses. Throws `stack.start-failed` for a name used
 * twice, an unknown dependency or a circle.
 */
export function toStartOrder(specs: readonly ProcessSpec[]): ProcessSpec[] {
  const byName = new Map(specs.map((spec) => [spec.name, spec]));
  if (byName.size !== specs.length) throw invalidPlan('two processes have the same name');
  const ordered = new Set<ProcessSpec>();
  const visit = (spec: ProcessSpec, trail: readonly string[]): void => {
    if (ordered.has(spec)) return;
    if (trail.includes(spec.name)) throw invalidPlan(`${[...trail, spec.name].join(' → ')} is a circle`);
    for (const name of [...spec.dependsOn, ...(spec.uses ?? [])]) {
      const dependency = byName.get(name);
      if (dependency === undefined) throw invalidPlan(`${spec.name} depends on ${name}, which is not in it`);
      visit(dependency, [...trail, spec.name]);
    }
    ordered.add(spec);
  };
  for (const spec of specs) visit(spec, []);
  return [...ordered];
}

const invalidPlan = (problem: string): StackError =>
  new StackError(stackCodes.startFailed, `The plan of the stack is wrong: ${problem}; correct the plan.`);
