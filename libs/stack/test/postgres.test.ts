import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openPortBook } from '../src/ports.ts';
import {
  choosePostgresAccount,
  demotedAccount,
  type PostgresAccount,
} from '../src/servers/postgres-account.ts';
import { findPostgresBinaries } from '../src/servers/postgres-binaries.ts';
import { postgresServer } from '../src/servers/postgres.ts';
import { SupervisedProcess } from '../src/supervisor/supervised-process.ts';
import { scratchFolder } from './fixtures/scratch.ts';

const env = { PATH: '/usr/bin:/bin:/usr/sbin' };

async function cluster(account: PostgresAccount) {
  const folder = scratchFolder();
  const dataDir = join(folder, 'postgres');
  const port = await openPortBook({ file: join(folder, 'ports.json'), onNotice: () => undefined }).choose(
    'postgres',
  );
  const start = async (password: string) => {
    const binaries = await findPostgresBinaries(env);
    const { spec, url } = await postgresServer({ binaries, account, port, password, dataDir, env });
    const supervised = new SupervisedProcess({
      spec,
      logFile: join(folder, 'postgres.log'),
      onSpawn: () => undefined,
    });
    onTestFinished(() => supervised.stop());
    return { supervised, url };
  };
  return { folder, dataDir, start };
}

async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

describe('the embedded Postgres', () => {
  test('makes its cluster once, asks for the password, and keeps what was committed', async () => {
    const { dataDir, start } = await cluster(await choosePostgresAccount(env));
    mkdirSync(`${dataDir}.unfinished-1/base`, { recursive: true });
    const first = await start('a-password');
    await first.supervised.start();
    expect(existsSync(`${dataDir}.unfinished-1`)).toBe(false);
    await query(first.url, 'create table kept as select 1 as one');
    const settings = `select current_setting('synchronous_commit') as commit, current_setting('listen_addresses') as listens,
      current_setting('unix_socket_directories') as sockets, current_setting('server_encoding') as encoding`;
    expect(await query(first.url, settings)).toEqual([
      { commit: 'on', listens: '127.0.0.1', sockets: '', encoding: 'UTF8' },
    ]);
    await expect(query(first.url.replace('a-password', 'wrong'), 'select 1')).rejects.toMatchObject({
      code: '28P01',
    });
    await first.supervised.stop();
    // What a power cut leaves, when the pid now belongs to another process.
    writeFileSync(join(dataDir, 'postmaster.pid'), `${process.pid}\n${dataDir}\n`);
    const second = await start('a-password');
    await second.supervised.start();
    expect(await query(second.url, 'select one from kept')).toEqual([{ one: 1 }]);
  });

  test('says so when the secrets are not those of the cluster', async () => {
    const { folder, dataDir, start } = await cluster(await choosePostgresAccount(env));
    const first = await start('a-password');
    await first.supervised.start();
    await first.supervised.stop();
    const second = await start('another-password');
    await expect(second.supervised.start()).rejects.toMatchObject({
      code: 'stack.start-failed',
      message: expect.stringContaining(
        `The password in secrets.json is not that of the Postgres files in ${dataDir}: restore secrets.json, or delete ${folder}`,
      ),
    });
  });

  test.runIf(process.getuid?.() === 0)('runs below root where user namespaces are forbidden', async () => {
    const account = demotedAccount();
    const { folder, dataDir, start } = await cluster(account);
    chownSync(folder, 0, 0);
    chmodSync(folder, 0o700);
    const { supervised, url } = await start('a-password');
    await supervised.start();
    expect(statSync(dataDir).uid).toBe(account.uid);
    expect(readFileSync(`/proc/${supervised.pid}/status`, 'utf8')).toMatch(
      new RegExp(`^Uid:\\s+${account.uid}\\s`, 'm'),
    );
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});
