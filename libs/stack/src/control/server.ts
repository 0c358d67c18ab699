import { chmod, lstat, mkdir, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { StackError, stackCodes, systemReason } from '../stack-error.ts';
import { type ControlReply, type ControlRequest, controlRequestSchema } from './messages.ts';

/** Answers one request; may reply several times, the last time with something that is not progress. */
export type ControlHandler = (
  request: ControlRequest,
  reply: (message: ControlReply) => void,
) => Promise<void>;

export type ControlServer = {
  readonly path: string;
  /** Stops listening, lets the requests that were made be answered, and ends the connections. */
  close(): Promise<void>;
};

/**
 * Listens at the first of the candidate paths whose folder belongs to this user alone. The caller holds the supervisor
 * lock, so a socket file that is already there is a leftover. Throws `stack.state-unreadable` when no folder can be used.
 */
export async function openControlServer(
  candidates: readonly string[],
  handler: ControlHandler,
): Promise<ControlServer> {
  const problems: string[] = [];
  for (const path of candidates) {
    try {
      await claimFolder(dirname(path));
      await rm(path, { force: true });
      return await listen(path, handler);
    } catch (error) {
      problems.push(`${dirname(path)}: ${systemReason(error)}`);
    }
  }
  throw new StackError(
    stackCodes.stateUnreadable,
    `The control socket cannot be created (${problems.join('; ')}): set TMPDIR to a writable folder with a short path.`,
  );
}

/** In a folder that everyone may write to, somebody else could have made ours first. */
async function claimFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const stats = await lstat(folder);
  if (!stats.isDirectory() || stats.uid !== (process.getuid?.() ?? stats.uid))
    throw new Error('it belongs to another user');
  await chmod(folder, 0o700);
}

async function listen(path: string, handler: ControlHandler): Promise<ControlServer> {
  const sockets = new Set<Socket>();
  const answers = new Set<Promise<void>>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    const reply = (message: ControlReply): void => {
      if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
    };
    readRequest(socket, (line) => {
      const answered = answer(line, handler, reply).finally(() => {
        answers.delete(answered);
        socket.end();
      });
      answers.add(answered);
    });
  });
  await listening(server, path);
  return {
    path,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all(answers);
      for (const socket of sockets) socket.end();
      await closed;
    },
  };
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function readRequest(socket: Socket, onLine: (line: string) => void): void {
  const lines = createInterface({ input: socket });
  lines.on('error', () => undefined);
  lines.once('line', onLine);
}

async function answer(
  line: string,
  handler: ControlHandler,
  reply: (message: ControlReply) => void,
): Promise<void> {
  try {
    await handler(controlRequestSchema.parse(JSON.parse(line)), reply);
  } catch (error) {
    const failure =
      error instanceof StackError ? error : new StackError(stackCodes.startFailed, systemReason(error));
    reply({ kind: 'failed', code: failure.code, message: failure.message });
  }
}
