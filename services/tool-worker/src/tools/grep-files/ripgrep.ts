// ripgrep.ts: one run of ripgrep that only names the files that match.
// It is a child of this process and not of the process host: it has no effect, so a search that dies with this process runs again.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ToolError } from '../../reading-tool.ts';

const timeoutMs = 30_000;
/** More files than that are no answer to any question. */
const fileLimit = 100_000;
const messageLimit = 2_000;

export type Search = { pattern: string; include?: string | undefined; path: string };

/**
 * Absolute paths in no order; at most `fileLimit`.
 * @throws ToolError for a pattern or glob that ripgrep does not take, and after 30 s; the signal's reason after an abort
 */
export async function findMatchingFiles(search: Search, signal: AbortSignal): Promise<string[]> {
  const { rgPath } = await import('@vscode/ripgrep');
  const glob = search.include === undefined ? [] : ['--glob', search.include];
  const args = ['--no-config', '--no-messages', '--files-with-matches', '--null', ...glob];
  const timeout = AbortSignal.timeout(timeoutMs);
  const rg = spawn(rgPath, [...args, '--regexp', search.pattern, '--', search.path], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {},
    signal: AbortSignal.any([signal, timeout]),
    killSignal: 'SIGKILL',
  });
  const ended = once(rg, 'close');
  // The reading ends first; the failure is looked at after that.
  ended.catch(() => undefined);
  const [files, message] = await Promise.all([readNames(rg.stdout), readMessage(rg.stderr)]);
  if (files.length >= fileLimit) rg.kill('SIGKILL');
  const code = await ended.then(
    ([exitCode]) => exitCode as number | null,
    (error: unknown) => {
      signal.throwIfAborted();
      if (!timeout.aborted) throw error;
      throw new ToolError(`the search took longer than ${timeoutMs / 1000} seconds; search a smaller folder`);
    },
  );
  if (code === 2 && files.length === 0 && message !== '') throw new ToolError(message);
  return files;
}

async function readNames(output: AsyncIterable<Buffer>): Promise<string[]> {
  const names: string[] = [];
  let rest = Buffer.alloc(0);
  for await (const chunk of output) {
    const bytes = Buffer.concat([rest, chunk]);
    let from = 0;
    for (let end = bytes.indexOf(0); end !== -1; end = bytes.indexOf(0, from)) {
      names.push(bytes.toString('utf8', from, end));
      from = end + 1;
    }
    rest = bytes.subarray(from);
    if (names.length >= fileLimit) break;
  }
  return names.slice(0, fileLimit);
}

async function readMessage(output: AsyncIterable<Buffer>): Promise<string> {
  let message = '';
  for await (const chunk of output) if (message.length < messageLimit) message += chunk.toString('utf8');
  return message.slice(0, messageLimit).trim();
}
