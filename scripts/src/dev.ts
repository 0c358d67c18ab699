// The stack with every service in a process of its own, restarted when a source that it runs changes. Ctrl-C takes it down.
import { spawn } from 'node:child_process';
import { watch } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readStatus, resolvePaths, stopStack } from '@holdfast/stack';

const root = fileURLToPath(new URL('../..', import.meta.url));
const paths = resolvePaths({ root, env: process.env });
const servers = new Set(['temporal', 'postgres', 'nats']);
/** Editors write a file more than once; one restart is enough. */
const settleMs = 200;

function holdfast(...args: string[]): Promise<number | null> {
  // An empty bundle path makes the orchestrator bundle its workflows at each start.
  const env = { ...process.env, HOLDFAST_WORKFLOW_BUNDLE: '' };
  const child = spawn(`${root}/holdfast`, args, { stdio: 'inherit', env });
  return new Promise((resolve) => child.once('exit', resolve));
}

/** The roles that run a changed file: one service, or everything for a library. */
function toRoles(file: string): (role: string) => boolean {
  const service = /^services[/\\]([^/\\]+)/.exec(file)?.[1];
  if (service === undefined) return (role) => !servers.has(role);
  return (role) => role === service || role.startsWith(`${service}:`);
}

async function restart(files: readonly string[]): Promise<void> {
  const { processes } = await readStatus(paths);
  const wanted = processes.filter(({ role }) => files.some((file) => toRoles(file)(role)));
  for (const { role, pid } of wanted) {
    if (pid === null) continue;
    process.stderr.write(`restarting ${role}\n`);
    process.kill(pid, 'SIGTERM');
  }
}

const changed = new Set<string>();
let timer: NodeJS.Timeout | undefined;
function note(folder: string, name: string | null): void {
  if (name === null || !/[/\\]src[/\\].*\.(ts|sql|md)$/.test(name)) return;
  changed.add(`${folder}/${name}`);
  clearTimeout(timer);
  timer = setTimeout(() => {
    const files = [...changed];
    changed.clear();
    void restart(files);
  }, settleMs);
}

if ((await holdfast('up', '--split')) !== 0) process.exit(1);
for (const folder of ['services', 'libs']) {
  watch(`${root}/${folder}`, { recursive: true }, (_event, name) => note(folder, name));
}
process.stderr.write('watching services and libs; Ctrl-C stops the stack\n');
let stopping: Promise<unknown> | undefined;
process.on('SIGINT', () => {
  stopping ??= stopStack({ paths }).then(() => process.exit(0));
});
