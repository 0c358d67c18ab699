// engines.ts: the two engines behind one door: a session that plays a script, driven through `AgentSession`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AgentSession } from '@holdfast/agent-loop';
import { createLocalEngine } from '@holdfast/cli';
import { startModelServer, type ModelServer, type Script } from '@holdfast/model-script';
import { createLogger } from '@holdfast/telemetry';
import { startTestStack } from '@holdfast/testing';

export type EngineUnderTest = {
  readonly model: ModelServer;
  open(script: Script, approvalPolicy: 'never' | 'always'): Promise<{ session: AgentSession; cwd: string }>;
  close(): Promise<void>;
};

let scripts = 0;
const register = (model: ModelServer, script: Script) => model.addScript(`parity-${(scripts += 1)}`, script);

const progressServer = fileURLToPath(new URL('./progress-server.ts', import.meta.url));

/** An MCP configuration with the one server whose tool reports progress. */
function writeMcpConfig(folder: string): string {
  const path = join(folder, 'mcp.json');
  const server = { command: process.execPath, args: [progressServer] };
  writeFileSync(path, JSON.stringify({ mcpServers: { progress: server } }));
  return path;
}

export async function openDurableEngine(): Promise<EngineUnderTest> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-parity-'));
  const stack = await startTestStack({ env: { HOLDFAST_MCP_CONFIG: writeMcpConfig(folder) } });
  return {
    model: stack.model,
    open: async (script, approvalPolicy) => {
      const cwd = stack.folder();
      const model = { name: 'scripted', baseUrl: register(stack.model, script), apiKey: 'sk-parity' };
      const created = await stack.client.createSession({
        settings: { cwd, machine: 'local', model, approvalPolicy },
      });
      return { session: stack.client.open(created.sessionId), cwd };
    },
    close: async () => {
      await stack.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function openInProcessEngine(): Promise<EngineUnderTest> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-parity-'));
  const model = await startModelServer();
  const engine = await createLocalEngine({
    stateDir: join(folder, 'state'),
    workspace: folder,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    mcpConfig: writeMcpConfig(folder),
    logger: createLogger({ service: 'parity', level: 'silent' }),
  });
  return {
    model,
    open: async (script, approvalPolicy) => {
      const cwd = mkdtempSync(join(folder, 'work-'));
      const settings = { name: 'scripted', baseUrl: register(model, script), apiKey: 'sk-parity' };
      return {
        session: await engine.createSession({ settings: { cwd, model: settings, approvalPolicy } }),
        cwd,
      };
    },
    close: async () => {
      await engine.close();
      await model.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
