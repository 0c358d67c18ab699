import { describe, expect, test } from 'vitest';
import { parsePatch } from '../../src/tools/apply-patch/parser.ts';

const wrap = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');

describe('a patch', () => {
  test('may add, delete, update and move files', () => {
    const text = wrap(
      '*** Add File: new.txt',
      '+one',
      '+',
      '+ two',
      '*** Delete File: old.txt',
      '*** Update File: src/a.ts',
      '*** Move to: src/b.ts',
      '@@ class A',
      ' keep',
      '-drop',
      '+put',
      '',
      '@@',
      '+last',
      '*** End of File',
    );
    expect(parsePatch(text)).toEqual({
      hunks: [
        { kind: 'add', path: 'new.txt', lines: ['one', '', ' two'] },
        { kind: 'delete', path: 'old.txt' },
        {
          kind: 'update',
          path: 'src/a.ts',
          moveTo: 'src/b.ts',
          chunks: [
            {
              anchor: 'class A',
              lines: [
                { kind: 'context', text: 'keep' },
                { kind: 'remove', text: 'drop' },
                { kind: 'add', text: 'put' },
                { kind: 'context', text: '' },
              ],
              atEnd: false,
            },
            { lines: [{ kind: 'add', text: 'last' }], atEnd: true },
          ],
        },
      ],
    });
  });

  test('may leave out the marker of its first part', () => {
    expect(parsePatch(wrap('*** Update File: a', '-x', '+y'))).toEqual({
      hunks: [
        {
          kind: 'update',
          path: 'a',
          chunks: [
            {
              lines: [
                { kind: 'remove', text: 'x' },
                { kind: 'add', text: 'y' },
              ],
              atEnd: false,
            },
          ],
        },
      ],
    });
  });

  test.each([
    ['blank space around it', `\n\n  ${wrap('*** Delete File: a')}\n\n`],
    ['a here-document around it', `<<'EOF'\n${wrap('*** Delete File: a')}\nEOF`],
    ['a here-document in double quotes', `<<"PATCH"\n${wrap('*** Delete File: a')}\nPATCH\n`],
    ['a plain here-document', `<<EOF\n${wrap('*** Delete File: a')}\nEOF`],
    ['line ends of Windows', wrap('*** Delete File: a').replaceAll('\n', '\r\n')],
    ['space around its headers', wrap('   *** Delete File: a  ')],
    ['the environment it is for', wrap('*** Environment ID: main', '*** Delete File: a')],
    ['empty lines between files', wrap('', '*** Delete File: a', '', '')],
  ])('may have %s', (_what, text) => {
    expect(parsePatch(text)).toEqual({ hunks: [{ kind: 'delete', path: 'a' }] });
  });

  test('may be empty', () => {
    expect(parsePatch(wrap())).toEqual({ hunks: [] });
  });

  test.each([
    ['hello', "invalid patch: the first line must be '*** Begin Patch'"],
    ['*** Begin Patch\n*** Delete File: a', "invalid patch: the last line must be '*** End Patch'"],
    ['*** Begin Patch', "invalid patch: the last line must be '*** End Patch'"],
    [
      wrap('*** Delete File: a', '*** Remove File: b'),
      "invalid hunk at line 3: '*** Remove File: b' does not begin a file; write '*** Add File: {path}', '*** Delete File: {path}' or '*** Update File: {path}'",
    ],
    [wrap('*** Update File: a'), "invalid hunk at line 2: the update of 'a' is empty"],
    [wrap('*** Update File: a', '@@ x'), 'invalid hunk at line 4: a part has no lines'],
    [wrap('*** Update File: a', '@@ x', '@@ y', ' z'), 'invalid hunk at line 4: a part has no lines'],
    [wrap('*** Update File: a', '*** End of File'), 'invalid hunk at line 3: a part has no lines'],
    [
      wrap('*** Update File: a', '@@', 'x'),
      "invalid hunk at line 4: unexpected line 'x'; lines of an update begin with ' ' (context), '+' (added) or '-' (removed)",
    ],
    [
      wrap('*** Update File: a', '@@', '-x', 'y'),
      "invalid hunk at line 5: a part must begin with '@@', found 'y'",
    ],
    [
      wrap('*** Update File: a', '-x', '*** End of File', '-y'),
      "invalid hunk at line 5: a part must begin with '@@', found '-y'",
    ],
  ])('that is wrong is refused with its place: %j', (text, message) => {
    expect(() => parsePatch(text)).toThrow(expect.objectContaining({ name: 'PatchError', message }));
  });
});
