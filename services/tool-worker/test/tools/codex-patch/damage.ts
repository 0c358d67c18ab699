// damage.ts: what models do to a patch on the way: other spaces, other punctuation, missing and doubled lines, wrappers.
import fc from 'fast-check';
import { pick, seldom, type Draw } from './draw.ts';

const disguises: ((line: string) => string)[] = [
  (line) => `${line}  `,
  (line) => ` ${line}`,
  (line) => line.trim(),
  (line) => `${line}\u0085`,
  (line) => `\u00A0${line}`,
  (line) => line.replaceAll(/[\u201C\u201D]/g, '"').replaceAll('\u2019', "'"),
  (line) => line.replaceAll(/[\u2013\u2212]/g, '-').replaceAll(/[\u00A0\u2003]/g, ' '),
  (line) => line.replaceAll('"', '\u201D').replaceAll('-', '\u2014'),
  (line) => `${line}\uFEFF`,
  () => 'nowhere',
];

/** A line of the file as a model may remember it. */
export function disguise(g: Draw, line: string): string {
  return seldom(g, 8) ? pick(g, disguises)(line) : line;
}

const intruders = [
  '',
  ' ',
  '\t',
  '@@',
  '@@ ',
  ' @@',
  '@@ x',
  '@@x',
  '*** End of File',
  ' *** End of File',
  '*** End of File ',
  '*** End Patch',
  ' *** End Patch',
  '\t*** End Patch',
  '*** Begin Patch',
  '*** Move to: z',
  ' *** Move to: z',
  '*** Move to: ',
  '*** Foo',
  '***',
  '+',
  '-',
  'x',
  '+\r',
  '\r',
  '*** Delete File: b',
  ' *** Delete File: b',
  '\t*** Delete File: b ',
  '*** Delete File:',
  '*** Add File: z ',
  '  *** Add File: z',
  '*** Add File: ',
  '*** Update File: a',
  ' *** Update File: a',
  '*** Environment ID: e',
  '*** Environment ID:',
  '\u0085',
  '\u00A0@@',
  '@@\u00A0x',
  '*** add file: z',
];

const damages: ((g: Draw, lines: readonly string[], at: number) => string[])[] = [
  (g, lines, at) => lines.toSpliced(at, 0, pick(g, intruders)),
  (g, lines, at) => lines.toSpliced(at, 0, pick(g, intruders), pick(g, intruders)),
  (g, lines, at) => lines.with(at, pick(g, intruders)),
  (_g, lines, at) => lines.toSpliced(at, 1),
  (_g, lines, at) => lines.toSpliced(at, 0, lines[at] ?? ''),
  (g, lines, at) => lines.with(at, pick(g, [' ', '\t', '\u0085']) + (lines[at] ?? '')),
  (g, lines, at) =>
    lines.with(at, (lines[at] ?? '') + pick(g, [' ', '\t', '\r', '\r\r', '\u0085', '\uFEFF'])),
];

/** A patch that may be none any more. */
export function damage(g: Draw, lines: readonly string[]): string[] {
  if (lines.length === 0) return [pick(g, intruders)];
  return pick(g, damages)(g, lines, g(fc.nat, { max: lines.length - 1 }));
}

const begins = [
  ' *** Begin Patch ',
  '*** Begin Patch\t',
  '\uFEFF*** Begin Patch',
  '*** begin patch',
  '',
  '*** Begin Patch\n*** Environment ID: e',
];
const ends = [
  ' *** End Patch ',
  '\t*** End Patch',
  '*** End Patch\n*** End Patch',
  '*** End Patch\n\n*** End Patch\n*** End Patch',
  '',
  '*** End',
  '*** End Patch\nx',
];
const wrappers: ((patch: string) => string)[] = [
  (patch) => `<<'EOF'\n${patch}\nEOF`,
  (patch) => `<<EOF\n${patch}\nEOF\n`,
  (patch) => `<<"EOF"\n${patch}\n  EOF`,
  (patch) => `<<'PATCH'\n${patch}\nPATCH`,
  (patch) => `<<'EOF' \n${patch}\nEOF`,
  (patch) => `<<'EOF'\n${patch}\n\nEOF`,
  (patch) => `<<EOF\n${patch}`,
  (patch) => `apply_patch <<EOF\n${patch}\nEOF`,
  (patch) => `\n \n${patch}\n\t\n`,
  (patch) => `\u0085${patch}\u0085`,
  (patch) => patch.replaceAll('\n', '\r\n'),
];

/** The lines of the files as a whole patch. */
export function wrap(g: Draw, lines: readonly string[]): string {
  const begin = seldom(g, 25) ? pick(g, begins) : '*** Begin Patch';
  const end = seldom(g, 25) ? pick(g, ends) : '*** End Patch';
  const patch = [begin, ...lines, end].join('\n');
  return (seldom(g, 8) ? pick(g, wrappers)(patch) : patch).replaceAll('\0', '');
}
