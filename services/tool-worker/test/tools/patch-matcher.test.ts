import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyChunks } from '../../src/tools/apply-patch/matcher.ts';
import { parsePatch } from '../../src/tools/apply-patch/parser.ts';
import type { Chunk } from '../../src/tools/apply-patch/patch.ts';

function toChunks(...lines: string[]): Chunk[] {
  const { hunks } = parsePatch(
    ['*** Begin Patch', '*** Update File: f', ...lines, '*** End Patch'].join('\n'),
  );
  const [hunk] = hunks;
  return hunk?.kind === 'update' ? hunk.chunks : [];
}

const edit = (text: string, ...lines: string[]) => applyChunks(text, toChunks(...lines), 'f');

describe('a part of a patch', () => {
  test('replaces lines at the first place where its old lines stand', () => {
    expect(edit('a\nb\na\nb\n', ' a', '-b', '+c')).toBe('a\nc\na\nb\n');
  });

  test('is searched after its anchor', () => {
    expect(edit('f()\nx\ng()\nx\n', '@@ g()', '-x', '+y')).toBe('f()\nx\ng()\ny\n');
  });

  test('is searched after the part before it', () => {
    expect(edit('x\nx\nx\n', '@@', '-x', '+1', '@@', '-x', '+2')).toBe('1\n2\nx\n');
  });

  test('is not searched before the part before it', () => {
    expect(() => edit('a\nb\n', '@@', '-b', '+2', '@@', '-a', '+1')).toThrow(
      'Failed to find expected lines in f:\na',
    );
  });

  test.each([
    ['space at the end', 'x  \n', '-x', 'y\n'],
    ['space at the end of the patch', 'x\n', '-x  ', 'y\n'],
    ['space in front', '\t  x\n', '-x', 'y\n'],
    ['typographic dashes', 'a \u2013 b\n', '-a - b', 'y\n'],
    ['typographic quotes', '\u2018a\u2019 \u201Cb\u201D\n', `-'a' "b"`, 'y\n'],
    ['unusual spaces', 'a\u00A0b\u3000c\n', '-a b c', 'y\n'],
  ])('is found in spite of %s', (_what, text, old, expected) => {
    expect(edit(text, old, '+y')).toBe(expected);
  });

  test('prefers a strict place to a lenient one further up', () => {
    expect(edit('  x\nx\n', '-x', '+y')).toBe('  x\ny\n');
  });

  test('leaves context as the file has it, also where it was found leniently', () => {
    expect(edit('  a  \nb\n', ' a', '-b', '+c')).toBe('  a  \nc\n');
  });

  test('tied to the end of the file is searched there only', () => {
    expect(edit('x\ny\nx\n', '-x', '+z', '*** End of File')).toBe('x\ny\nz\n');
    expect(() => edit('x\ny\n', '-x', '+z', '*** End of File')).toThrow(
      'Failed to find expected lines in f:\nx',
    );
  });

  test('without old lines is put at the end', () => {
    expect(edit('a\nb\n', '@@ a', '+c', '+d')).toBe('a\nb\nc\nd\n');
    expect(edit('', '+first')).toBe('first\n');
  });

  test('may end with an empty line that the file does not have', () => {
    expect(edit('a\nb', ' a', '-b', '+c', '')).toBe('a\nc\n');
    expect(edit('a\n', '-a', '-', '+b', '+')).toBe('b\n');
  });

  test('of which only an empty line is left puts its new lines where it is searched', () => {
    expect(edit('x\ny\n', '@@ x', ' ', '+1')).toBe('x\n\n1\ny\n');
  });

  test('stands before a later part at the same place', () => {
    expect(edit('x\n\n', '@@ x', '+1', '@@', ' ', '+2')).toBe('x\n\n1\n2\n');
  });

  test('is not taken for found by space that Unicode does not call space', () => {
    expect(() => edit('\uFEFFx\n', '-x', '+y')).toThrow('Failed to find expected lines');
    expect(edit('\u0085x\n', '-x', '+y')).toBe('y\n');
  });

  test('may empty the file', () => {
    expect(edit('a\nb\n', '-a', '-b')).toBe('');
  });

  test('that does not fit is refused with what was searched', () => {
    expect(() => edit('a\n', ' b', '-c', '+d')).toThrow('Failed to find expected lines in f:\nb\nc');
    expect(() => edit('a\n', '@@ nowhere', '-a')).toThrow("Failed to find context 'nowhere' in f");
  });
});

describe('line ends', () => {
  test('stay as they are, and new lines take the first one of the file', () => {
    expect(edit('a\r\nb\nc\r\n', ' a', '-b', '+x', '+y', ' c')).toBe('a\r\nx\r\ny\r\nc\r\n');
    expect(edit('a\nb\r\nc\r\n', '-a', '+x')).toBe('x\nb\r\nc\r\n');
  });

  test('may be carriage returns alone', () => {
    expect(edit('a\rb\nc', '-b', '+x')).toBe('a\rx\rc\r');
  });

  test('are added to a last line that had none', () => {
    expect(edit('a\nb', '-a', '+x')).toBe('x\nb\n');
    expect(edit('a\r\nb', '+c')).toBe('a\r\nb\r\nc\r\n');
  });

  test('of a file are kept for every line that no part names', () => {
    const line = fc.record({ text: fc.stringMatching(/^[a-z ]{0,5}$/), end: fc.constantFrom('\n', '\r\n') });
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.nat(8), (lines, at) => {
        const place = Math.min(at, lines.length);
        const toFile = (part: { text: string; end: string }[]) =>
          part.map(({ text, end }) => text + end).join('');
        const marked = [...lines.slice(0, place), { text: 'MARK', end: '\n' }, ...lines.slice(place)];
        const first = marked[0]?.end ?? '\n';
        const changed = edit(toFile(marked), '-MARK', '+NEW');
        expect(changed).toBe(`${toFile(lines.slice(0, place))}NEW${first}${toFile(lines.slice(place))}`);
      }),
    );
  });
});
