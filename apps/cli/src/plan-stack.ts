// plan-stack.ts: gathers what the plan of the stack needs: ports, the workflow bundle, the person's configuration.
import { writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Env } from '@holdfast/config';
import type { PlanContext, PortBook, ProcessSpec } from '@holdfast/stack';
import { findMcpConfig } from './mcp-config.ts';
import { controlPlaneRoles, type StackPorts } from './stack-environment.ts';
import { modelNoteFile } from './stack-files.ts';
import { planProcesses } from './stack-plan.ts';
import { ensureWorkflowBundle } from './workflow-bundle.ts';

const readinessTimeoutMs = 1_000;

/** Plans Holdfast's processes, and notes in the state folder whether the stack has a model endpoint of its own. */
export async function planStack(
  context: PlanContext,
  options: { root: string; node: string; split: boolean },
): Promise<ProcessSpec[]> {
  const { paths, env, endpoints, secrets, onProgress } = context;
  const [ports, workflowBundle] = await Promise.all([
    choosePorts(context.ports, env),
    ensureWorkflowBundle({
      root: options.root,
      cacheDir: paths.cacheDir,
      node: options.node,
      env,
      onProgress,
    }),
  ]);
  const mcpConfig = findMcpConfig(env);
  const model = { endpoint: env['OPENAI_API_KEY'] || env['OPENAI_BASE_URL'] ? 'configured' : 'scripted' };
  writeFileSync(join(paths.stateDir, modelNoteFile), JSON.stringify(model), { mode: 0o600 });
  return planProcesses({
    ...options,
    env,
    stateDir: paths.stateDir,
    cacheDir: paths.cacheDir,
    endpoints,
    secrets,
    ports,
    workflowBundle,
    ...(mcpConfig === undefined ? {} : { mcpConfig }),
    workspace: env['HOME'] ?? homedir(),
    areReady,
  });
}

async function choosePorts(book: PortBook, env: Env): Promise<StackPorts> {
  const ports: Partial<StackPorts> = {};
  // One after the other: the book remembers each port before it looks for the next.
  for (const role of [...controlPlaneRoles, 'tool-worker'] as const) {
    const configured = role === 'session-api' ? env['HOLDFAST_SESSION_API_PORT'] : undefined;
    ports[role] = await book.choose(
      role,
      configured ? { value: configured, source: 'HOLDFAST_SESSION_API_PORT' } : undefined,
    );
  }
  return ports as StackPorts;
}

async function areReady(urls: readonly string[]): Promise<boolean> {
  const answers = await Promise.all(urls.map((url) => isReady(url)));
  return answers.every(Boolean);
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(readinessTimeoutMs) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
