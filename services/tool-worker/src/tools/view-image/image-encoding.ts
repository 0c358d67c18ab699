// image-encoding.ts: an image in a form and a size that models take.
import { ToolError } from '../../reading-tool.ts';

export type EncodedImage = {
  bytes: Buffer;
  mediaType: string;
  /** As it is in the file. */
  original: { format: string; width: number; height: number };
  /** As the model sees it, when that differs. */
  shown?: { width: number; height: number };
};

/** The longer side that models make use of, in pixels. */
const longestSide = 2048;
/** A smaller file of a known form is sent as it is. */
const unchangedBytes = 4 * 1024 * 1024;
const pixelLimit = 100_000_000;
const knownForms = new Set(['png', 'jpeg', 'webp', 'gif']);

/** @throws ToolError when the bytes are no image that can be read */
export async function encodeImage(bytes: Buffer, path: string): Promise<EncodedImage> {
  // Loaded on the first image: the library takes longer to load than everything else of this worker.
  const { default: sharp } = await import('sharp');
  try {
    const image = sharp(bytes, { limitInputPixels: pixelLimit });
    const { format, width, height, hasAlpha } = await image.metadata();
    const original = { format, width, height };
    const isSmall = Math.max(width, height) <= longestSide && bytes.length <= unchangedBytes;
    if (isSmall && knownForms.has(format)) return { bytes, mediaType: `image/${format}`, original };
    const fitted = image
      .autoOrient()
      .resize({ width: longestSide, height: longestSide, fit: 'inside', withoutEnlargement: true });
    const isLossless = (hasAlpha || format === 'png') && bytes.length <= unchangedBytes;
    const encoded = isLossless ? fitted.png() : fitted.flatten({ background: 'white' }).jpeg({ quality: 85 });
    const { data, info } = await encoded.toBuffer({ resolveWithObject: true });
    const shown = { width: info.width, height: info.height };
    return { bytes: data, mediaType: `image/${info.format}`, original, shown };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ToolError(`${path} is no image that can be shown: ${reason}`, { cause: error });
  }
}
