// patch.ts: a patch as data.

export type Patch = { hunks: Hunk[] };

export type Hunk =
  | { kind: 'add'; path: string; lines: string[] }
  | { kind: 'delete'; path: string }
  | { kind: 'update'; path: string; moveTo?: string; chunks: Chunk[] };

/** One place of a file that changes. */
export type Chunk = {
  /** A line of the file before the place. */
  anchor?: string;
  lines: ChunkLine[];
  /** The place is the end of the file. */
  atEnd: boolean;
};

export type ChunkLine = { kind: 'context' | 'remove' | 'add'; text: string };

/** A patch that cannot be read or does not fit; the message is for the model. */
export class PatchError extends Error {
  override readonly name = 'PatchError';
}
