import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { z } from 'zod';
import { readDisposableJsonFile, writeJsonFile } from './json-file.ts';
import { StackError, stackCodes } from './stack-error.ts';

const LOOPBACK = '127.0.0.1';

// Below the range that kernels hand out for outgoing connections (32768 and up on Linux, 49152 elsewhere), so that
// a remembered port is not lost to somebody's client socket while its server restarts.
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;

const portsSchema = z.record(z.string(), z.number().int().min(1).max(65_535));

/** Ports by purpose, remembered across starts so that clients find a restarted server at its old address. */
export type PortBook = {
  /**
   * The port for `name` on 127.0.0.1. Without `explicit`: the remembered port while it is free, else a new free one,
   * which is then remembered (and announced when it replaces another). With `explicit` (a configured value, `source`
   * is the variable it came from): exactly that port, or `stack.port-occupied` when it is taken or not a port.
   */
  choose(name: string, configured?: { value: string; source: string }): Promise<number>;
};

/** Opens the book kept in `file`. `onNotice` receives one sentence for each port that had to change. */
export function openPortBook({
  file,
  onNotice,
}: {
  file: string;
  onNotice: (line: string) => void;
}): PortBook {
  const ports = readDisposableJsonFile(file, portsSchema) ?? {};
  const choose: PortBook['choose'] = async (name, configured) => {
    if (configured !== undefined) return configuredPort(configured);
    const remembered = ports[name];
    if (remembered !== undefined && (await isPortFree(remembered))) return remembered;
    const port = await freePort(new Set(Object.values(ports)));
    if (remembered !== undefined) {
      onNotice(`port ${remembered} of ${name} is taken by another program; ${name} uses ${port} from now on`);
    }
    ports[name] = port;
    writeJsonFile(file, ports);
    return port;
  };
  // One choice after the other, so that no two names are given the same port.
  let last: Promise<unknown> = Promise.resolve();
  return {
    choose(name, configured) {
      const chosen = last.then(() => choose(name, configured));
      last = chosen.catch(() => undefined);
      return chosen;
    },
  };
}

async function configuredPort({ value, source }: { value: string; source: string }): Promise<number> {
  const port = Number(value);
  if (!/^\d+$/.test(value) || port < 1 || port > 65_535) {
    throw new StackError(
      stackCodes.portOccupied,
      `${source}=${value} is not a port: set it to a number from 1 to 65535.`,
    );
  }
  if (await isPortFree(port)) return port;
  throw new StackError(
    stackCodes.portOccupied,
    `Port ${port} (${source}) is used by another program: stop that program or set ${source} to a free port.`,
  );
}

async function freePort(taken: ReadonlySet<number>): Promise<number> {
  const span = LAST_PORT - FIRST_PORT;
  const start = randomInt(span);
  for (let step = 0; step < span; step += 1) {
    const port = FIRST_PORT + ((start + step) % span);
    if (!taken.has(port) && (await isPortFree(port))) return port;
  }
  throw new StackError(
    stackCodes.portOccupied,
    `No port between ${FIRST_PORT} and ${LAST_PORT} is free on ${LOOPBACK}: stop some of the programs that listen there.`,
  );
}

/** Whether a server could listen on this loopback port right now. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: LOOPBACK, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
