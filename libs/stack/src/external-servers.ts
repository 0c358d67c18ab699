import { answersTcp } from './readiness.ts';
import { type StackEndpoints, toHostAndPort, withoutCredentials } from './servers/endpoints.ts';
import type { ProcessStatus } from './supervisor/supervisor.ts';

/** Status rows of the servers that somebody else runs: no pid, and `ok` while their port answers. */
export function toExternalRows({ temporal, database, nats }: StackEndpoints): Promise<ProcessStatus[]> {
  const servers = [
    { role: 'temporal', address: temporal.address, external: temporal.external },
    { role: 'postgres', address: withoutCredentials(database.url), external: database.external },
    { role: 'nats', address: withoutCredentials(nats.url), external: nats.external },
  ];
  return Promise.all(servers.filter(({ external }) => external).map(toRow));
}

async function toRow({ role, address }: { role: string; address: string }): Promise<ProcessStatus> {
  const target = toHostAndPort(address);
  const answers = target !== null && (await answersTcp(target));
  return {
    role,
    process: 'external',
    pid: null,
    address,
    health: answers ? 'ok' : 'failed',
    rssMb: null,
    restarts: 0,
  };
}
