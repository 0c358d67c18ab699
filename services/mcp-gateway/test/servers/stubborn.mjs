// A server that ignores the end of its input and SIGTERM, and, unless it is started with `alone`, has a child of its own, as wrappers
// have. It says its pid and that of its child, one JSON line each, in the form of notifications.
import { spawn } from 'node:child_process';

process.on('SIGTERM', () => undefined);
setInterval(() => undefined, 1_000);
const say = (pid) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'pid', params: { pid } })}\n`);
say(process.pid);
if (process.argv[2] !== 'alone') say(spawn('sleep', ['1000'], { stdio: 'inherit' }).pid);
