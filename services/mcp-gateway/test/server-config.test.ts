import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readServerConfigs, toServerConfigs } from '@holdfast/mcp-gateway';
import { describe, expect, onTestFinished, test } from 'vitest';

const env = { TOKEN: 'secret', EMPTY: '' };
const parse = (mcpServers: unknown) =>
  toServerConfigs({ text: JSON.stringify({ mcpServers }), source: 'mcp.json', folder: '/etc/holdfast', env });

const defaults = {
  startupTimeoutMs: 30_000,
  toolTimeoutMs: 300_000,
  enabledTools: undefined,
  disabledTools: [],
  supportsParallelToolCalls: false,
};

describe('the MCP configuration', () => {
  test('names local servers, with folders relative to the file', () => {
    expect(
      parse({ docs: { command: 'docs-server', args: ['--fast'], env: { LEVEL: '1' }, cwd: 'data' } }),
    ).toEqual([
      {
        ...defaults,
        name: 'docs',
        protocol: 'legacy',
        transport: {
          kind: 'stdio',
          command: 'docs-server',
          args: ['--fast'],
          env: { LEVEL: '1' },
          cwd: '/etc/holdfast/data',
        },
      },
    ]);
  });

  test('names servers over HTTP, with a token from the environment', () => {
    const servers = parse({
      search: {
        type: 'http',
        url: 'https://example.org/mcp',
        headers: { 'X-Team': 'a' },
        bearerTokenEnvVar: 'TOKEN',
        startupTimeoutSec: 5,
        toolTimeoutSec: 0.5,
        enabledTools: ['find'],
        disabledTools: ['drop'],
        supportsParallelToolCalls: true,
      },
    });
    expect(servers).toEqual([
      {
        name: 'search',
        protocol: 'auto',
        transport: {
          kind: 'http',
          url: 'https://example.org/mcp',
          headers: { 'X-Team': 'a', Authorization: 'Bearer secret' },
        },
        startupTimeoutMs: 5_000,
        toolTimeoutMs: 500,
        enabledTools: ['find'],
        disabledTools: ['drop'],
        supportsParallelToolCalls: true,
      },
    ]);
  });

  test('takes variables from the environment in any string, with a fallback where one is given', () => {
    const [server] = parse({
      docs: { command: 'docs', args: ['${TOKEN}', 'x${EMPTY:-y}z', '$HOME', '${A:-}'] },
    });
    expect(server?.transport).toMatchObject({ args: ['secret', 'xyz', '$HOME', ''] });
  });

  test('leaves out servers that are not enabled', () => {
    expect(parse({ docs: { command: 'docs', enabled: false } })).toEqual([]);
  });

  test.for([
    [
      { docs: {} },
      'mcpServers.docs is not valid: give either command (a local server) or url (a server over HTTP).',
    ],
    [
      { docs: { command: 'a', url: 'http://x' } },
      'mcpServers.docs is not valid: give either command (a local server) or url (a server over HTTP).',
    ],
    [
      { docs: { command: 'a', headers: {} } },
      'mcpServers.docs is not valid: headers has no meaning beside command; remove it.',
    ],
    [
      { docs: { command: 'a', arg: [] } },
      'mcpServers.docs has an unknown key arg; remove it or correct its name.',
    ],
    [{ docs: { url: 'ftp://x' } }, 'mcpServers.docs.url is not valid: must be an http or https address.'],
    [
      { docs: { command: 'a', toolTimeoutSec: 0 } },
      'mcpServers.docs.toolTimeoutSec is not valid: Too small: expected number to be >0.',
    ],
    [
      { 'my docs': { command: 'a' } },
      'mcpServers.my docs is not valid: a name must be 1 to 64 characters of A-Z a-z 0-9 _ -.',
    ],
    [
      { docs: { command: '${NOWHERE}' } },
      'mcpServers.docs.command names the variable NOWHERE, which is not set; set it and start again.',
    ],
    [
      { docs: { url: 'http://x', bearerTokenEnvVar: 'EMPTY' } },
      'mcpServers.docs takes its token from EMPTY, which is not set; set it and start again.',
    ],
  ])('says in one sentence what is wrong with %j', ([servers, sentence]) => {
    expect(() => parse(servers)).toThrow(`mcp.json: ${sentence as string}`);
  });

  test('says one sentence for each of several mistakes', () => {
    expect(() => parse({ a: { command: '' }, b: { command: 'b', enabled: 'yes' } })).toThrow(
      'mcp.json: mcpServers.a.command is not valid: Too small: expected string to have >=1 characters. ' +
        'mcp.json: mcpServers.b.enabled is not valid: Invalid input: expected boolean, received string.',
    );
  });

  test('says where a file is not JSON, and takes a file that is not there for no servers', () => {
    const folder = mkdtempSync(join(tmpdir(), 'mcp-config-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'mcp.json');
    expect(readServerConfigs({ path, env })).toEqual([]);
    expect(readServerConfigs({ path: undefined, env })).toEqual([]);
    writeFileSync(path, '{');
    expect(() => readServerConfigs({ path, env })).toThrow(`${path} is not valid JSON: `);
    writeFileSync(path, '{"mcpServers": {"docs": {"command": "docs"}}}');
    expect(readServerConfigs({ path, env }).map((server) => server.name)).toEqual(['docs']);
    expect(() => readServerConfigs({ path: folder, env })).toThrow(
      `The MCP configuration ${folder} cannot be read (EISDIR); make it a readable file.`,
    );
  });
});
