import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Env } from '@holdfast/config';

/** HOLDFAST_MCP_CONFIG, whether or not the file exists; else the usual place when there is a file. */
export function findMcpConfig(env: Env): string | undefined {
  if (env['HOLDFAST_MCP_CONFIG']) return env['HOLDFAST_MCP_CONFIG'];
  const home = env['XDG_CONFIG_HOME'] || join(env['HOME'] ?? homedir(), '.config');
  const usual = join(home, 'holdfast', 'mcp.json');
  return existsSync(usual) ? usual : undefined;
}
