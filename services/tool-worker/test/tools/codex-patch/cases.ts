import { resolve } from 'node:path';
// cases.ts: random pairs of a file tree and a patch for it. Parts of a patch are taken from the files, then worn: most fit, many fit only
// leniently, some do not fit, some are no patches.
import fc, { type Arbitrary } from 'fast-check';
import { damage, disguise, wrap } from './damage.ts';
import { pick, seldom, type Draw } from './draw.ts';
import type { Tree } from './tree.ts';

/** `{root}` in the patch stands for the absolute path of the tree. */
export type PatchCase = { tree: Tree; patch: string };

const oneOf = (...values: string[]): Arbitrary<string> => fc.constantFrom(...values);

const plain = ['a', 'b', 'c', 'x', 'y', '}', 'if (x) {', 'a - b', '"q"', "it's", 'x y'];
const odd = [
  '',
  '  x',
  'x  ',
  '\tx',
  ' ',
  '\u201Cq\u201D',
  'it\u2019s',
  'a \u2013 b',
  'a\u2212b',
  'x\u00A0y',
  'x\u2003y',
  'é\u{1F600}',
];
const tricky = [
  '+x',
  '-x',
  ' x',
  '@@ x',
  '*** End Patch',
  '*** End of File',
  'EOF',
  '\uFEFFx',
  '\u0085x',
  'x\u000B',
  '\0',
];
const text = fc.oneof(
  { weight: 8, arbitrary: oneOf(...plain) },
  { weight: 4, arbitrary: oneOf(...odd) },
  { weight: 1, arbitrary: oneOf(...tricky) },
);
const sameEnds = fc.oneof(
  { weight: 6, arbitrary: oneOf('\n') },
  { weight: 3, arbitrary: oneOf('\r\n') },
  { weight: 1, arbitrary: oneOf('\r') },
);
const file = fc
  .record({
    lines: fc.array(fc.tuple(text, fc.option(oneOf('\n', '\r\n', '\r'), { freq: 12 })), { maxLength: 9 }),
    end: sameEnds,
    closed: fc.integer({ min: 0, max: 3 }),
  })
  .map(({ lines, end, closed }) => {
    const joined = lines.map(([line, own]) => line + (own ?? end)).join('');
    return closed > 0 ? joined : joined.replace(/(\r\n|\r|\n)$/, '');
  });

const fileNames = ['a', 'b', 'c.txt', 'd/e', 'd/f', 'g h'];
const tree: Arbitrary<Tree> = fc
  .record({
    files: fc.array(fc.tuple(oneOf(...fileNames), file), { minLength: 1, maxLength: 4 }),
    isBinary: fc.nat(24).map((value) => value === 12),
    link: oneOf('', '', '', 'a', 'd', '', 'none', 'a', './c.txt', '', '', ''),
  })
  .map(({ files, isBinary, link }) => {
    const made: Tree = { empty: { kind: 'folder' } };
    for (const [name, content] of files) made[name] = { kind: 'file', bytes: Buffer.from(content) };
    if (isBinary) made['c.txt'] = { kind: 'file', bytes: Buffer.from([0x61, 0xff, 0x0a]) };
    if (link !== '') made['link'] = { kind: 'link', target: link };
    return made;
  });

const newPath = oneOf(
  'n',
  'n/m',
  'd/n',
  'empty/n',
  'n/m/k',
  'a/n',
  'empty',
  'd',
  '.',
  'link',
  'link/n',
  'é',
  'n/',
);
const spellings: ((path: string) => string)[] = [
  (path) => path,
  (path) => `./${path}`,
  (path) => `{root}/${path}`,
  (path) => `d/../${path}`,
];

const spell = (g: Draw, path: string) => (seldom(g, 6) ? pick(g, spellings)(path) : path);

export const patchCase: Arbitrary<PatchCase> = fc.gen().map((g) => {
  const files = g(() => tree);
  const lines: string[] = [];
  for (let count = seldom(g, 30) ? 0 : 1 + g(fc.nat, { max: 2 }); count > 0; count -= 1)
    lines.push(...toHunk(g, files));
  const worn = seldom(g, 6) ? damage(g, lines) : lines;
  return { tree: files, patch: wrap(g, worn) };
});

function toHunk(g: Draw, files: Tree): string[] {
  const known = Object.keys(files).filter((name) => name !== 'empty' || seldom(g, 9));
  const path = seldom(g, 20) ? g(() => newPath) : pick(g, known);
  switch (pick(g, ['add', 'delete', 'update', 'update', 'update', 'update'] as const)) {
    case 'add': {
      const added = g(() => fc.array(text, { maxLength: 4 }));
      return [
        `*** Add File: ${spell(g, seldom(g, 3) ? path : g(() => newPath))}`,
        ...added.map((line) => `+${line}`),
      ];
    }
    case 'delete':
      return [`*** Delete File: ${spell(g, path)}`];
    case 'update':
      return toUpdate(g, files, path);
  }
}

function toUpdate(g: Draw, files: Tree, path: string): string[] {
  const header = `*** Update File: ${spell(g, path)}`;
  const target = seldom(g, 4) ? (seldom(g, 2) ? g(() => newPath) : pick(g, fileNames)) : undefined;
  const entry = files[toReal(files, path)];
  const content = entry?.kind === 'file' ? entry.bytes.toString() : '';
  // Codex loses a file that is moved onto itself.
  const moves = target !== undefined && toReal(files, target) !== toReal(files, path);
  return [
    header,
    ...(moves ? [`*** Move to: ${spell(g, target)}`] : []),
    ...toChunks(g, content.split(/\r\n|\r|\n/)),
  ];
}

/** The path without the one link there is. */
function toReal(files: Tree, path: string): string {
  const link = files['link']?.kind === 'link' ? files['link'].target : 'link';
  return resolve('/', path.replace(/^link(?=\/|$)/, link)).slice(1);
}

function toChunks(g: Draw, lines: string[]): string[] {
  const result: string[] = [];
  let at = 0;
  for (let left = 1 + g(fc.nat, { max: 2 }); left > 0; left -= 1) {
    if (!seldom(g, 15)) at = Math.min(lines.length, at + g(fc.nat, { max: 3 }));
    const hasAnchor = at < lines.length && seldom(g, 4);
    if (hasAnchor) result.push(`@@ ${disguise(g, lines[at] ?? '')}`);
    else if (result.length > 0 || seldom(g, 2)) result.push('@@');
    if (hasAnchor) at += 1;
    const taken = seldom(g, 6) ? 0 : 1 + g(fc.nat, { max: 3 });
    result.push(...toBody(g, lines.slice(at, at + taken)));
    at += taken;
    if (seldom(g, at >= lines.length ? 3 : 20)) result.push('*** End of File');
  }
  return result;
}

function toBody(g: Draw, old: readonly string[]): string[] {
  const added = () => (seldom(g, 3) ? [`+${g(() => text)}`] : []);
  const body = old.flatMap((line) => {
    const worn = disguise(g, line);
    const kind = pick(g, [' ', '-', ' ', '-', '-+'] as const);
    if (kind === '-+') return [`-${worn}`, `+${g(() => text)}`, ...added()];
    return [worn === '' && kind === ' ' && seldom(g, 2) ? '' : kind + worn, ...added()];
  });
  if (seldom(g, 8)) body.push(pick(g, ['', ' ', '-', '+']));
  return body.length === 0 && !seldom(g, 25) ? [`+${g(() => text)}`] : body;
}
