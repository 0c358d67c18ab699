// prompt.ts: the text the model is asked with, from the command line, from stdin, or from both.
import { usageError } from './exit-codes.ts';
import { note, type Terminal } from './terminal.ts';

/** The API takes no more; see `input.too-large`. */
const limitBytes = 1024 * 1024;
/** A pipe that nobody closes would be waited for in silence. */
const patienceMs = 1_000;

/**
 * The argument; or stdin when the argument is `-` or absent; or the argument followed by stdin as a `<stdin>` block.
 * @throws CliError (2) for an empty prompt or one over 1 MiB
 */
export async function readPrompt(
  terminal: Pick<Terminal, 'stdin' | 'stderr'>,
  argument: string | undefined,
): Promise<string> {
  const { stdin } = terminal;
  const fromStdin = argument === undefined || argument === '-';
  if (fromStdin && !stdin.isPiped) throw usageError(missing);
  const piped = stdin.isPiped ? await readStdin(terminal) : '';
  const prompt = fromStdin ? piped : withBlock(argument, piped);
  if (prompt.trim() === '') throw usageError(missing);
  if (Buffer.byteLength(prompt) > limitBytes) throw usageError(tooLarge);
  return prompt;
}

const missing = 'There is no prompt: give it as an argument, or write it to stdin.';
const tooLarge =
  'The prompt is larger than 1 MiB; put long material into a file of the workspace and name the file.';

function withBlock(argument: string, piped: string): string {
  return piped === '' ? argument : `${argument}\n\n<stdin>\n${piped.replace(/\n$/, '')}\n</stdin>`;
}

async function readStdin(terminal: Pick<Terminal, 'stdin' | 'stderr'>): Promise<string> {
  const reminder = setTimeout(
    () => note(terminal, 'Reading stdin until it ends; use </dev/null when there is nothing to read.'),
    patienceMs,
  );
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of terminal.stdin) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > limitBytes) throw usageError(tooLarge);
      chunks.push(bytes);
    }
  } finally {
    clearTimeout(reminder);
  }
  return Buffer.concat(chunks).toString('utf8');
}
