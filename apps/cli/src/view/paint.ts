import pico from 'picocolors';

/** The few styles that progress needs; each returns plain text where colours are off. */
export type Paint = Record<'dim' | 'green' | 'red' | 'yellow' | 'bold', (text: string) => string>;

export function createPaint(options: { color: boolean }): Paint {
  return pico.createColors(options.color);
}
