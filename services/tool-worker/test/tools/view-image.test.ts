import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { openTestMachine, type TestMachine } from '../machines.ts';
import { callTool } from './calls.ts';

type Form = 'png' | 'jpeg' | 'tiff';

async function openWith(name: string, form: Form, size: { width: number; height: number }) {
  const bench = openTestMachine();
  const red = { r: 255, g: 0, b: 0, alpha: form === 'png' ? 0.5 : 1 };
  const channels = form === 'png' ? 4 : 3;
  const bytes = await sharp({ create: { ...size, channels, background: red } })
    .toFormat(form)
    .toBuffer();
  writeFileSync(join(bench.workspace, name), bytes);
  return { bench, bytes };
}

async function view({ store, ...bench }: TestMachine, path: string) {
  const output = await callTool({ store, ...bench }, 'view_image', { path });
  const bytes = output.image && store.blobs.get(output.image.digest);
  return { output, bytes, shown: bytes && (await sharp(bytes).metadata()) };
}

describe('view_image', () => {
  test('shows a small image as it is', async () => {
    const { bench, bytes } = await openWith('a.png', 'png', { width: 30, height: 20 });
    const { output, bytes: kept } = await view(bench, 'a.png');
    expect(output).toMatchObject({
      status: 'ok',
      text: `${bench.workspace}/a.png: PNG, 30 × 20 pixels, ${bytes.length} bytes.`,
      image: { mediaType: 'image/png', size: bytes.length },
    });
    expect(Buffer.from(kept ?? []).equals(bytes)).toBe(true);
    expect(output.tokens).toBeGreaterThan(1_844);
  });

  test('scales a large one down to 2048 pixels, and says so', async () => {
    const { bench } = await openWith('a.jpg', 'jpeg', { width: 4000, height: 1000 });
    const { output, shown } = await view(bench, 'a.jpg');
    expect(shown).toMatchObject({ format: 'jpeg', width: 2048, height: 512 });
    expect(output.text).toMatch(/: JPEG, 4000 × 1000 pixels, .*, shown with 2048 × 512 pixels\.$/);
  });

  test('keeps what shines through, and turns forms that models do not take into ones that they do', async () => {
    const clear = await openWith('a.png', 'png', { width: 3000, height: 10 });
    expect((await view(clear.bench, 'a.png')).shown).toMatchObject({
      format: 'png',
      width: 2048,
      hasAlpha: true,
    });
    const { bench } = await openWith('a.tiff', 'tiff', { width: 30, height: 20 });
    const { output, shown } = await view(bench, 'a.tiff');
    expect([output.image?.mediaType, shown?.width]).toEqual(['image/jpeg', 30]);
  });

  test('refuses what is no image, and a path that is wrong', async () => {
    const { bench } = await openWith('a.png', 'png', { width: 1, height: 1 });
    writeFileSync(join(bench.workspace, 'b.png'), 'no image');
    expect((await view(bench, 'b.png')).output).toMatchObject({
      status: 'failed',
      text: expect.stringContaining(
        `view_image failed: ${bench.workspace}/b.png is no image that can be shown: `,
      ),
    });
    expect((await view(bench, 'a.pngg')).output.text).toBe(
      `view_image failed: there is no ${bench.workspace}/a.pngg; did you mean ${bench.workspace}/a.png?`,
    );
  });
});
