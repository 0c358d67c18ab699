import fc, { type GeneratorValue } from 'fast-check';

export type Draw = GeneratorValue;

/** True about once in `outOf`: fast-check prefers the ends of a range, and shrinks to the first. */
export const seldom = (g: Draw, outOf: number): boolean =>
  g(fc.nat, { max: outOf - 1 }) === Math.floor(outOf / 2);

export const pick = <T>(g: Draw, values: readonly T[]): T => g(fc.constantFrom<T[]>, ...values);
