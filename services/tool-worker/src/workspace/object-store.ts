// object-store.ts: the private git directory of one workspace: contents and trees by SHA-256, as loose objects that git can read.
// O1  An object is there whole or not at all: drafts are renamed into place, and those of a dead process are removed.
// O2  What is read is what was written: an object whose content does not match its name counts as damaged.
// O3  Objects of a batch count when the batch has ended; one that is cut off leaves nothing.
// O4  Nothing here knows the repository of the workspace itself.
import { hash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { compress, Pack, PackWriter } from './pack.ts';

export type ObjectKind = 'blob' | 'tree';

/** Git's name of an object: 64 hex digits. */
export type ObjectId = string;

const config = `[core]
\trepositoryformatversion = 1
\tbare = true
[extensions]
\tobjectformat = sha256
[gc]
\tauto = 0
`;

export class ObjectStore {
  readonly folder: string;
  readonly #drafts: string;
  /** Objects that are certain to be there. */
  readonly #present = new Set<ObjectId>();
  readonly #packs: Pack[];
  readonly #packFolder: string;
  #batch: PackWriter | undefined;

  /** Creates the folder when it is absent; only one process may use it. */
  constructor(folder: string) {
    this.folder = folder;
    this.#drafts = join(folder, 'drafts');
    rmSync(this.#drafts, { recursive: true, force: true }); // O1
    this.#packFolder = join(folder, 'objects', 'pack');
    for (const name of ['objects/pack', 'refs', 'drafts']) {
      mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    }
    writeFileSync(join(folder, 'config'), config);
    writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/none\n');
    const indexes = readdirSync(this.#packFolder).filter((name) => name.endsWith('.idx'));
    this.#packs = indexes.flatMap((name) => openPack(join(this.#packFolder, name)) ?? []);
  }

  /** What `work` puts goes into one file. @throws what `work` throws; nothing of the batch is kept then */
  inBatch<T>(work: () => T): T {
    this.#batch = new PackWriter({ folder: this.#packFolder, drafts: this.#drafts });
    const before = new Set(this.#present);
    try {
      const result = work();
      this.#endBatch();
      return result;
    } catch (error) {
      this.#batch?.discard();
      this.#batch = undefined;
      this.#present.clear();
      for (const id of before) this.#present.add(id);
      throw error;
    }
  }

  #endBatch(): void {
    const file = this.#batch?.finish();
    if (file !== undefined) this.#packs.push(new Pack(file));
    this.#batch = undefined;
  }

  /** Idempotent. Survives the death of this process; a power cut may damage what was written last. */
  put(kind: ObjectKind, content: Uint8Array): ObjectId {
    const bytes = withHeader(kind, content);
    const id = hash('sha256', bytes);
    if (this.#present.has(id)) return id;
    if (!this.#has(id)) this.#add(id, { kind, content, bytes });
    this.#present.add(id);
    return id;
  }

  /** @throws Error when the object is missing or damaged */
  read(kind: ObjectKind, id: ObjectId): Buffer {
    let content: Buffer;
    try {
      content = this.#readPacked(id) ?? withoutHeader(inflateSync(readFileSync(this.#toPath(id))));
    } catch (error) {
      throw new Error(`the snapshot lacks the ${kind} ${id}`, { cause: error });
    }
    if (hash('sha256', withHeader(kind, content)) !== id) {
      throw new Error(`the ${kind} ${id} of the snapshot is damaged`); // O2
    }
    return content;
  }

  #readPacked(id: ObjectId): Buffer | undefined {
    return this.#packs.find((pack) => pack.has(id))?.read(id);
  }

  #has(id: ObjectId): boolean {
    return this.#packs.some((pack) => pack.has(id)) || existsSync(this.#toPath(id));
  }

  #add(
    id: ObjectId,
    { kind, content, bytes }: { kind: ObjectKind; content: Uint8Array; bytes: Uint8Array },
  ): void {
    if (!this.#batch) return this.#write(this.#toPath(id), compress(bytes));
    if (this.#batch.isFull) {
      this.#endBatch();
      this.#batch = new PackWriter({ folder: this.#packFolder, drafts: this.#drafts });
    }
    this.#batch.add(id, kind, content);
  }

  #write(path: string, bytes: Uint8Array): void {
    const draft = join(this.#drafts, randomUUID());
    writeFileSync(draft, bytes, { flag: 'wx', mode: 0o400 });
    try {
      renameSync(draft, path);
    } catch {
      mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
      renameSync(draft, path);
    }
  }

  #toPath(id: ObjectId): string {
    return join(this.folder, 'objects', id.slice(0, 2), id.slice(2));
  }
}

/** One that a power cut has damaged is as good as none: what it held is written again, or missed by name. */
function openPack(indexFile: string): Pack | undefined {
  try {
    return new Pack(indexFile);
  } catch {
    return undefined;
  }
}

function withHeader(kind: ObjectKind, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${kind} ${content.length}\0`), content]);
}

function withoutHeader(bytes: Buffer): Buffer {
  return bytes.subarray(bytes.indexOf(0) + 1);
}
