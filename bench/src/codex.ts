// codex.ts: the Codex binary against the same scripted model, side by side with Holdfast.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ModelServer, Script } from '@holdfast/model-script';
import { startProgram } from '@holdfast/testing';

export type CodexRun = { scriptId: string; startedAt: number };

export type CodexOptions = { binary: string; model: ModelServer; sandboxed?: boolean };

let runs = 0;

/**
 * Runs one `codex exec` to its end. @throws Error when it fails
 * Its home must not lie under the temporary folder, or its sandbox helper is not made.
 */
export async function runCodex(options: CodexOptions, script: Script): Promise<CodexRun> {
  runs += 1;
  const scriptId = `codex-${runs}`;
  const baseUrl = options.model.addScript(scriptId, script);
  const homes = join(homedir(), '.cache', 'holdfast', 'codex-homes');
  mkdirSync(homes, { recursive: true });
  const home = mkdtempSync(join(homes, 'home-'));
  const work = mkdtempSync(join(homes, 'work-'));
  const provider = `{name="mock",base_url="${baseUrl}",wire_api="responses",env_key="MOCK_KEY"}`;
  const sandbox = options.sandboxed
    ? ['-s', 'workspace-write']
    : ['--dangerously-bypass-approvals-and-sandbox'];
  const settings = ['-c', 'model_provider=mock', '-c', `model_providers.mock=${provider}`];
  const args = ['exec', '--json', '--skip-git-repo-check', '-m', 'gpt-5.5', ...settings, ...sandbox, 'go'];
  const startedAt = performance.now();
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], CODEX_HOME: home, MOCK_KEY: 'x' };
  const result = await startProgram(options.binary, args, { env, cwd: work }).result;
  rmSync(home, { recursive: true, force: true });
  rmSync(work, { recursive: true, force: true });
  if (result.code !== 0)
    throw new Error(
      `codex ended with ${result.code}: ${result.stdout.slice(-500)} ${result.stderr.slice(-500)}`,
    );
  return { scriptId, startedAt };
}
