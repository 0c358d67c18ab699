// request-images.ts: puts the images of the conversation into a request.
// R1  An image that the store no longer has must not end the session: the model is told that it is missing.
import type { BlobStore } from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import type { BlobRef, CallOutputItem, InputText, Item } from '@holdfast/protocol';

type InputImage = { type: 'input_image'; image_url: string; detail: 'auto' };

/** An item as the API takes it: an output with an image has parts instead of a text. */
export type RequestItem =
  | Item
  | { type: CallOutputItem['type']; call_id: string; output: (InputText | InputImage)[] };

export type ImageReader = (items: readonly Item[]) => Promise<readonly RequestItem[]>;

const keptCharacters = 64 * 1024 * 1024;
const missing = 'The image is no longer kept; look at it again when it is needed.';

/**
 * Resolves to the same list when it has no image. Images are sent with every request of their session, so recent ones are kept.
 * @throws Failure store.unavailable
 */
export function createImageReader(store: Pick<BlobStore, 'readBlob'>): ImageReader {
  const kept = new Map<string, string>();
  let characters = 0;
  const read = async (image: BlobRef): Promise<string | undefined> => {
    const known = kept.get(image.digest) ?? (await readDataUrl(store, image));
    if (known === undefined || known.length > keptCharacters) return known;
    characters += kept.delete(image.digest) ? 0 : known.length;
    kept.set(image.digest, known);
    for (const [oldest, url] of kept) {
      if (characters <= keptCharacters) break;
      kept.delete(oldest);
      characters -= url.length;
    }
    return known;
  };
  return async (items) => {
    if (!items.some((item) => 'image' in item)) return items;
    return Promise.all(
      items.map(async (item) => ('image' in item && item.image ? toParts(item, read) : item)),
    );
  };
}

async function toParts(
  { type, call_id, output, image }: CallOutputItem,
  read: (image: BlobRef) => Promise<string | undefined>,
): Promise<RequestItem> {
  const url = image && (await read(image));
  const text: InputText = { type: 'input_text', text: url === undefined ? `${output}\n${missing}` : output };
  if (url === undefined) return { type, call_id, output: [text] };
  return { type, call_id, output: [text, { type: 'input_image', image_url: url, detail: 'auto' }] };
}

async function readDataUrl(store: Pick<BlobStore, 'readBlob'>, image: BlobRef): Promise<string | undefined> {
  try {
    const { bytes } = await store.readBlob({ digest: image.digest });
    return `data:${image.mediaType};base64,${Buffer.from(bytes).toString('base64')}`;
  } catch (error) {
    if (error instanceof Failure && error.code === 'blob.unknown') return undefined; // R1
    throw error;
  }
}
