// white-space.ts: trimming by Unicode's White_Space, as Codex 0.169 does it. JavaScript's own also takes U+FEFF and leaves U+0085.

const isSpace = (char: string | undefined): boolean => char !== undefined && /\p{White_Space}/u.test(char);

export function trim(text: string): string {
  let start = 0;
  while (isSpace(text[start])) start += 1;
  return trimEnd(text.slice(start));
}

export function trimEnd(text: string): string {
  let end = text.length;
  while (isSpace(text[end - 1])) end -= 1;
  return text.slice(0, end);
}
