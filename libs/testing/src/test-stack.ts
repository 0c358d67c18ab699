// test-stack.ts: a whole stack of its own for a test file: real servers, real processes, a scripted model that the test holds.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startModelServer, type ModelServer, type Script } from '@holdfast/model-script';
import { createSessionClient, type SessionClient } from '@holdfast/session-client';
import { startProgram, type ProgramOptions, type ProgramResult, type RunningProgram } from './run-program.ts';

const launcher = fileURLToPath(new URL('../../../holdfast', import.meta.url));

export type ProcessRow = { role: string; pid: number; address: string; health: string; rssMb: number };

export type TestStack = {
  readonly stateDir: string;
  /** Environment of the CLI: this stack, this model, a key. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly model: ModelServer;
  readonly client: SessionClient;
  /** Runs the CLI to its end. */
  holdfast(args: readonly string[], options?: ProgramOptions): Promise<ProgramResult>;
  /** Starts the CLI and returns at once. */
  start(args: readonly string[], options?: ProgramOptions): RunningProgram;
  /** Registers a script and returns the variables that make `exec` play it. */
  play(id: string, script: Script): Record<string, string>;
  processes(): Promise<ProcessRow[]>;
  /** The process that has this role now. */
  pidOf(role: string): Promise<number>;
  /** An empty folder that ends with the stack. */
  folder(): string;
  /** What stack.json says. */
  addresses(): Record<string, string>;
  close(): Promise<void>;
};

export type TestStackOptions = { split?: boolean; env?: Record<string, string> };

/** Fast reactions, so that tests about lost workers and machines do not wait for production timeouts. */
const quickTuning = { HOLDFAST_HEARTBEAT_TIMEOUT_MS: '3000', HOLDFAST_MACHINE_WAIT_MS: '2000' };

/** Variables that would leak the surroundings of a test into what it shows. */
const foreign = /^(HOLDFAST_|OPENAI_|TEMPORAL_|NATS_|DATABASE_URL|XDG_STATE_HOME|NO_COLOR|FORCE_COLOR)/;

export async function startTestStack(options: TestStackOptions = {}): Promise<TestStack> {
  const stateDir = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
  const model = await startModelServer();
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
  const env = {
    ...inherited,
    HOLDFAST_STATE_DIR: join(stateDir, 'state'),
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'sk-test-key-of-the-suite',
    ...quickTuning,
    HOLDFAST_WORKFLOW_CACHE_SIZE: process.env['HOLDFAST_TEST_WORKFLOW_CACHE_SIZE'],
    ...options.env,
  };
  const programs = new Set<RunningProgram>();
  const start = (args: readonly string[], more: ProgramOptions = {}) => {
    const program = startProgram(launcher, args, { ...more, env: { ...env, ...more.env } });
    programs.add(program);
    void program.result.finally(() => programs.delete(program));
    return program;
  };
  const holdfast = (args: readonly string[], program?: ProgramOptions) => start(args, program).result;
  const close = async () => {
    for (const program of programs) program.kill('SIGTERM');
    await holdfast(['down']);
    await model.close();
    rmSync(stateDir, { recursive: true, force: true });
  };
  const up = await holdfast(['up', ...(options.split ? ['--split'] : [])]);
  if (up.code !== 0) {
    await close();
    throw new Error(`the stack did not start: ${up.stderr}`);
  }
  const readJson = (name: string) => JSON.parse(readFileSync(join(stateDir, 'state', name), 'utf8')) as never;
  const stackFile: { sessionApiUrl: string; addresses: Record<string, string> } = readJson('stack.json');
  const secrets: { apiToken: string } = readJson('secrets.json');
  const processes = async () => {
    const { stdout } = await holdfast(['status', '--json']);
    return (JSON.parse(stdout) as { processes: ProcessRow[] }).processes;
  };
  return {
    stateDir: join(stateDir, 'state'),
    env,
    model,
    client: createSessionClient({ url: stackFile.sessionApiUrl, token: secrets.apiToken }),
    holdfast,
    start,
    play: (id, script) => ({ OPENAI_BASE_URL: model.addScript(id, script) }),
    processes,
    pidOf: async (role) => {
      const row = (await processes()).find((each) => each.role === role);
      if (!row) throw new Error(`no process has the role ${role}`);
      return row.pid;
    },
    folder: () => mkdtempSync(join(stateDir, 'folder-')),
    addresses: () => stackFile.addresses,
    close,
  };
}
