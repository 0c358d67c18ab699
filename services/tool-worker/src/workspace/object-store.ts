// object-store.ts: the private git directory of one workspace: contents and trees by SHA-256, as loose objects that git can read.
// O1  An object is there whole or not at all: drafts are renamed into place, and those of a dead process are removed.
// O2  What is read is what was written: an object whose content does not match its name counts as damaged.
// O3  Nothing here knows the repository of the workspace itself.
import { hash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';

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

/** Reading comes once in a while, writing all the time. */
const compressionLevel = 1;

export class ObjectStore {
  readonly folder: string;
  readonly #drafts: string;
  /** Objects that are certain to be there. */
  readonly #present = new Set<ObjectId>();

  /** Creates the folder when it is absent; only one process may use it. */
  constructor(folder: string) {
    this.folder = folder;
    this.#drafts = join(folder, 'drafts');
    rmSync(this.#drafts, { recursive: true, force: true }); // O1
    for (const name of ['objects', 'refs', 'drafts']) {
      mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    }
    writeFileSync(join(folder, 'config'), config);
    writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/none\n');
  }

  /** Idempotent. Survives the death of this process; a power cut may damage what was written last. */
  put(kind: ObjectKind, content: Uint8Array): ObjectId {
    const bytes = Buffer.concat([Buffer.from(`${kind} ${content.length}\0`), content]);
    const id = hash('sha256', bytes);
    if (this.#present.has(id)) return id;
    const path = this.#toPath(id);
    if (!existsSync(path)) this.#write(path, deflateSync(bytes, { level: compressionLevel }));
    this.#present.add(id);
    return id;
  }

  /** @throws Error when the object is missing or damaged */
  read(kind: ObjectKind, id: ObjectId): Buffer {
    let bytes: Buffer;
    try {
      bytes = inflateSync(readFileSync(this.#toPath(id)));
    } catch (error) {
      throw new Error(`the snapshot lacks the ${kind} ${id}`, { cause: error });
    }
    const start = bytes.indexOf(0) + 1;
    if (hash('sha256', bytes) !== id || !bytes.subarray(0, start).toString().startsWith(`${kind} `)) {
      throw new Error(`the ${kind} ${id} of the snapshot is damaged`); // O2
    }
    return bytes.subarray(start);
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
