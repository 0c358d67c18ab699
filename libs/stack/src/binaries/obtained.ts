import type { Env } from '@holdfast/config';

/** What a way to obtain a binary is given: `destination` is the final path, filled by one rename. */
export type ObtainOptions = {
  env: Env;
  toolsDir: string;
  destination: string;
  onProgress: (line: string) => void;
  signal?: AbortSignal;
};

/** A way that does not work says why in a few words and leaves the next way to be tried. */
export type Obtained = { kind: 'done' } | { kind: 'unavailable'; reason: string };
