import { array, assert, constantFrom, property, string, uniqueArray } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toToolNames } from '../src/tool-names.ts';

const nameOf = (server: string, tool: string, servers: string[] = [server]) =>
  toToolNames({ server, servers, tools: [tool] }).get(tool);

/** Few letters, so that names collide often. */
const anyName = string({ unit: constantFrom('a', 'b', '_', '-', '.', 'é'), minLength: 1, maxLength: 5 });
const longName = string({ unit: constantFrom('a', '-', '_'), minLength: 100, maxLength: 160 });
const tools = array(anyName, { maxLength: 30 });

describe('the names of MCP tools', () => {
  test('are made of server and tool', () => {
    expect(nameOf('docs', 'search')).toBe('mcp__docs__search');
  });

  test('have an underscore for every character that a function name cannot have', () => {
    expect(nameOf('my-docs', 'get.page/2')).toBe('mcp__my_docs__get_page_2');
  });

  test('end with a hash of the raw names when two tools would have the same name', () => {
    const names = toToolNames({
      server: 'docs',
      servers: ['docs'],
      tools: ['get-page', 'get_page', 'search'],
    });
    expect([...names]).toEqual([
      ['get-page', 'mcp__docs__get_page_79e81bd5e34e'],
      ['get_page', 'mcp__docs__get_page_51200bd13977'],
      ['search', 'mcp__docs__search'],
    ]);
  });

  test('are cut to 128 bytes and then end with a hash', () => {
    const name = nameOf('docs', 'x'.repeat(200));
    expect(name).toMatch(/^mcp__docs__x{104}_[0-9a-f]{12}$/);
    expect(name).toHaveLength(128);
  });

  test('end with a hash when the names of two servers can be mixed up, whichever of them answers', () => {
    expect(nameOf('a', 'b__c', ['a', 'a__b'])).toMatch(/^mcp__a__b__c_[0-9a-f]{12}$/);
    expect(nameOf('a__b', 'c', ['a', 'a__b'])).toMatch(/^mcp__a__b__c_[0-9a-f]{12}$/);
    expect(nameOf('a__b', 'c', ['a', 'a__b'])).not.toBe(nameOf('a', 'b__c', ['a', 'a__b']));
  });

  test('are safe, short enough and different for all tools of all servers', () => {
    assert(
      property(
        uniqueArray(anyName, { maxLength: 5 }),
        tools,
        array(longName, { maxLength: 5 }),
        (servers, few, long) => {
          const names = servers.flatMap((server) => [
            ...toToolNames({ server, servers, tools: [...few, ...long] }).values(),
          ]);
          expect(names.filter((name) => !/^mcp__[A-Za-z0-9_]{1,123}$/.test(name))).toEqual([]);
          expect(new Set(names).size).toBe(names.length);
          expect(names).toHaveLength(servers.length * new Set([...few, ...long]).size);
        },
      ),
    );
  });

  test('do not depend on the order in which a server lists its tools', () => {
    assert(
      property(tools, (listed) => {
        const names = toToolNames({ server: 'a', servers: ['a'], tools: listed });
        const turned = toToolNames({ server: 'a', servers: ['a'], tools: listed.toReversed() });
        expect(Object.fromEntries(turned)).toEqual(Object.fromEntries(names));
      }),
    );
  });
});
