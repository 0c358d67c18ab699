// stored-output.ts: what the model reads of an output on disk, and the whole of it as a blob when that had to be cut.
import type { BlobStore } from '@holdfast/agent-loop';
import { boundEnds, boundText, type BlobRef, type BoundedText } from '@holdfast/protocol';
import { readOutput, segmentBytes } from './process-host/output-files.ts';

export type StoredOutput = { folder: string; bytes: number; lines: number };

const bytesPerToken = 4;
/** The longest UTF-8 character: a cut end may begin or stop inside one. */
const characterBytes = 4;
/** A larger output keeps its first and its last half of this. */
const blobLimitBytes = 2 * segmentBytes;
const mediaType = 'text/plain; charset=utf-8';

/** Reads no more than the bound needs. */
export function readBounded(output: StoredOutput, bound: { tokens: number }): BoundedText {
  const { folder, bytes, lines } = output;
  const budget = bound.tokens * bytesPerToken;
  if (bytes <= budget)
    return boundText(bytes === 0 ? '' : readOutput(folder, { start: 0, end: bytes }).toString('utf8'), bound);
  const half = Math.ceil(budget / 2) + characterBytes;
  const head = readOutput(folder, { start: 0, end: half }).toString('utf8');
  const tail = readOutput(folder, { start: bytes - half, end: bytes }).toString('utf8');
  return boundEnds({ head, tail, totalBytes: bytes, totalLines: lines }, bound);
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

function readWhole({ folder, bytes }: StoredOutput): Uint8Array {
  if (bytes <= blobLimitBytes) return readOutput(folder, { start: 0, end: bytes });
  const note = Buffer.from(`\n… ${bytes - blobLimitBytes} bytes are missing here …\n`);
  const half = (blobLimitBytes - 2 * note.length) / 2;
  const head = readOutput(folder, { start: 0, end: half });
  const tail = readOutput(folder, { start: bytes - half, end: bytes });
  return Buffer.concat([head, note, tail]);
}
