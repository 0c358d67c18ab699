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
    ['a here-document in double quotes', `<<"EOF"\n${wrap('*** Delete File: a')}\nEOF\n`],
    ['a plain here-document', `<<EOF\n${wrap('*** Delete File: a')}\nEOF`],
    ['line ends of Windows', wrap('*** Delete File: a').replaceAll('\n', '\r\n')],
    ['space around its headers', wrap('   *** Delete File: a  ')],
    ['the environment it is for', wrap('*** Environment ID: main', '*** Delete File: a')],
    ['a second last line', `${wrap('*** Delete File: a')}\n\n*** End Patch`],
  ])('may have %s', (_what, text) => {
    expect(parsePatch(text)).toEqual({ hunks: [{ kind: 'delete', path: 'a' }] });
  });

  test('takes a header with space in front of it for context, but not after an added file', () => {
    expect(parsePatch(wrap('*** Update File: a', ' *** Delete File: b', '-c')).hunks).toEqual([
      {
        kind: 'update',
        path: 'a',
        chunks: [
          {
            lines: [
              { kind: 'context', text: '*** Delete File: b' },
              { kind: 'remove', text: 'c' },
            ],
            atEnd: false,
          },
        ],
      },
    ]);
    expect(parsePatch(wrap('*** Add File: a', ' *** Delete File: b')).hunks).toEqual([
      { kind: 'add', path: 'a', lines: [] },
      { kind: 'delete', path: 'b' },
    ]);
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
    [`<<'PATCH'\n${wrap()}\nPATCH`, "invalid patch: the first line must be '*** Begin Patch'"],
    [wrap('*** End Patch', '*** Delete File: a'), "invalid patch: '*** End Patch' must be the last line"],
    [
      wrap('*** Environment ID: ', '*** Delete File: a'),
      "invalid patch: name the environment after '*** Environment ID:' or leave the line out",
    ],
    [
      wrap('*** Update File: a'),
      "invalid hunk at line 2: the update of 'a' is empty; write the lines that change",
    ],
    [
      wrap('*** Update File: a', '*** Move to: b'),
      "invalid hunk at line 2: the update of 'a' is empty; write the lines that change, or one line of context to move the file as it is",
    ],
    [
      wrap('*** Delete File: a', ''),
      "invalid hunk at line 3: '' does not begin a file; write '*** Add File: {path}', '*** Delete File: {path}' or '*** Update File: {path}'",
    ],
    [wrap('*** Update File: a', '@@ x'), 'invalid hunk at line 4: a part has no lines'],
    [wrap('*** Update File: a', '@@ x', '@@ y', ' z'), 'invalid hunk at line 4: a part has no lines'],
    [wrap('*** Update File: a', '@@', '*** End of File'), 'invalid hunk at line 4: a part has no lines'],
    [
      wrap('*** Update File: a', '*** End of File'),
      "invalid hunk at line 2: the update of 'a' is empty; write the lines that change",
    ],
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
