// stored-output.ts: what the model reads of an output on disk, and the whole of it as a blob when that had to be cut.
import type { BlobStore } from '@holdfast/agent-loop';
import {
  boundEnds,
  boundText,
  toBoundBytes,
  type BlobRef,
  type BoundedText,
  type OutputBound,
} from '@holdfast/protocol';
import { countLines, readOutput, segmentBytes } from './process-host/output-files.ts';

/** The bytes from `start` to `end` of what a command printed. */
export type StoredOutput = {
  folder: string;
  start: number;
  end: number;
  /** Counted in what is still on disk when it is not known. */
  lines?: number;
};

/** The longest UTF-8 character: a cut end may begin or stop inside one. */
const characterBytes = 4;
/** A larger output keeps its first and its last half of this. */
const blobLimitBytes = 2 * segmentBytes;
const mediaType = 'text/plain; charset=utf-8';

/** Reads no more than the bound needs. */
export function readBounded(output: StoredOutput, bound: OutputBound): BoundedText {
  const { folder, start, end } = output;
  const budget = toBoundBytes(bound);
  if (end - start <= budget)
    return boundText(end === start ? '' : readOutput(folder, { start, end }).toString('utf8'), bound);
  const half = Math.ceil(budget / 2) + characterBytes;
  const head = readOutput(folder, { start, end: start + half }).toString('utf8');
  const tail = readOutput(folder, { start: end - half, end }).toString('utf8');
  const totalLines = output.lines ?? countLines(folder, { start, end });
  return boundEnds({ head, tail, totalBytes: end - start, totalLines }, bound);
}

export type OutputKeeper = {
  /** Keeps the whole output, up to 64 MiB of it. One at a time, because it passes through memory. */
  keep(output: StoredOutput): Promise<BlobRef>;
};

export function createOutputKeeper(store: Pick<BlobStore, 'putBlob'>): OutputKeeper {
  let queue: Promise<unknown> = Promise.resolve();
  return {
    keep: (output) => {
      const kept = queue.then(async () => {
        const { digest, size } = await store.putBlob({ bytes: readWhole(output), mediaType });
        return { digest, size, mediaType };
      });
      queue = kept.catch(() => undefined);
      return kept;
    },
  };
}

function readWhole({ folder, start, end }: StoredOutput): Uint8Array {
  const bytes = end - start;
  if (bytes <= blobLimitBytes) return readOutput(folder, { start, end });
  const note = Buffer.from(`\n… ${bytes - blobLimitBytes} bytes are missing here …\n`);
  const half = (blobLimitBytes - 2 * note.length) / 2;
  const head = readOutput(folder, { start, end: start + half });
  const tail = readOutput(folder, { start: end - half, end });
  return Buffer.concat([head, note, tail]);
}
