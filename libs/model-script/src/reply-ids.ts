// reply-ids.ts: ids that carry the number of the reply they belong to: `msg_r3_0` is output 0 of reply 3.

const prefixes = {
  message: 'msg',
  reasoning: 'rs',
  function: 'fc',
  custom: 'ctc',
  localShell: 'lsh',
  call: 'call',
} as const;
const pattern = new RegExp(`^(?:${Object.values(prefixes).join('|')})_r(\\d+)_\\d+$`);

export type IdKind = keyof typeof prefixes;

export function toReplyId(kind: IdKind, reply: number, output: number): string {
  return `${prefixes[kind]}_r${reply}_${output}`;
}

/** The reply's number, or undefined for an id that was made elsewhere. */
export function toReplyNumber(id: unknown): number | undefined {
  const digits = typeof id === 'string' ? pattern.exec(id)?.[1] : undefined;
  return digits === undefined ? undefined : Number(digits);
}
