import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';

/** Calls `receive` for every complete line, parsed. The other side is our own, so a malformed line ends the connection. */
export function readJsonLines(socket: Socket, receive: (message: unknown) => void): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  socket.on('data', (chunk) => {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    try {
      for (const line of lines) receive(JSON.parse(line));
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

export function writeJsonLine(socket: Socket, message: unknown): void {
  if (!socket.destroyed) socket.write(`${JSON.stringify(message)}\n`);
}
