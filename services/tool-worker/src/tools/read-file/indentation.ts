// indentation.ts: the block of a file round one line, found by indentation alone, so for any language.
// I1  Lines are taken in turn above and below the anchor while they are indented more than the outermost level wanted.
// I2  Of the outermost level only the line that opens the block, the comments right above it and a closing line below belong to it,
//     unless siblings are wanted.
// I3  An empty line belongs to what stands round it.
import type { NumberedLine } from './page.ts';
import type { IndentationArguments } from './spec.ts';

/** What a tab, and one level, is worth in spaces. */
const levelWidth = 4;
const header = /^\s*(?:#|\/\/|--|\/\*|\*|@)/;
const closing = /^\s*(?:[)\]}>]|<\/|end\b|fi\b|done\b|esac\b)/i;

export type Block = Pick<IndentationArguments, 'max_levels' | 'include_siblings' | 'include_header'> & {
  /** From 1, within the lines. */
  anchor: number;
  limit: number;
};

type Edge = { outermost: number } & Pick<Block, 'include_siblings' | 'include_header'>;
type Side = { at: number; step: 1 | -1; open: boolean; accepts: (line: string) => boolean };

/** @param lines all lines of the file; not empty */
export function findBlock(lines: readonly string[], block: Block): NumberedLine[] {
  const anchor = block.anchor - 1;
  const indent = toIndent(lines.slice(0, anchor + 1).findLast((line) => !isEmpty(line)) ?? '');
  const outermost = block.max_levels === 0 ? 0 : Math.max(0, indent - block.max_levels * levelWidth);
  const edge = { ...block, outermost };
  const above = toSide(anchor, -1, acceptAbove(edge, { hasOpener: indent <= outermost }));
  const below = toSide(anchor, 1, acceptBelow(edge));
  let count = 1;
  for (let turn = 0; count < block.limit && (above.open || below.open); turn += 1) {
    const side = turn % 2 === 0 ? above : below;
    const line = lines[side.at];
    side.open &&= line !== undefined && side.accepts(line);
    if (!side.open) continue;
    side.at += side.step;
    count += 1;
  }
  const taken = lines.slice(above.at + 1, below.at);
  return trim(taken.map((text, index) => ({ number: above.at + 2 + index, text })));
}

function toSide(anchor: number, step: 1 | -1, accepts: Side['accepts']): Side {
  return { at: anchor + step, step, open: true, accepts };
}

function acceptAbove(edge: Edge, state: { hasOpener: boolean }): Side['accepts'] {
  return (line) => {
    if (edge.include_siblings) return isEmpty(line) || toIndent(line) >= edge.outermost;
    if (state.hasOpener) return edge.include_header && header.test(line);
    state.hasOpener = !isEmpty(line) && toIndent(line) <= edge.outermost;
    return isEmpty(line) || toIndent(line) >= edge.outermost;
  };
}

function acceptBelow(edge: Edge): Side['accepts'] {
  let isClosed = false;
  return (line) => {
    if (isClosed) return false;
    if (isEmpty(line) || toIndent(line) > edge.outermost) return true;
    if (toIndent(line) < edge.outermost) return false;
    isClosed = !edge.include_siblings;
    return edge.include_siblings || closing.test(line);
  };
}

function isEmpty(line: string): boolean {
  return line.trim() === '';
}

function toIndent(line: string): number {
  let width = 0;
  for (const character of line) {
    if (character === ' ') width += 1;
    else if (character === '\t') width += levelWidth;
    else break;
  }
  return width;
}

/** Without the empty lines at both ends. */
function trim(lines: NumberedLine[]): NumberedLine[] {
  const isFilled = ({ text }: NumberedLine) => !isEmpty(text);
  return lines.slice(Math.max(0, lines.findIndex(isFilled)), lines.findLastIndex(isFilled) + 1);
}
