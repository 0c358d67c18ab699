// heredoc.ts: a command that is nothing but a patch. Models that know apply_patch as a program write it this way.

export type InterceptedPatch = {
  /** The text of the here-document. */
  patch: string;
  /** Where `cd` went before it, as written; relative to the folder the command would have started in. */
  workdir?: string;
};

/** A plain word, a string without anything that the shell would replace, or a string in single quotes. */
const folder = String.raw`(?:"(?<inDouble>[^"$\x60\\\n]+)"|'(?<inSingle>[^'\n]+)'|(?<bare>[\w./@%+=:,][\w./@%+=:,-]*))`;
const delimiter = String.raw`(?:'(?<single>[\w.-]+)'|"(?<double>[\w.-]+)"|(?<plain>[\w.][\w.-]*))`;
const opening = new RegExp(
  String.raw`^\s*(?:cd[ \t]+${folder}\s*&&\s*)?(?:apply_patch|applypatch)[ \t]*<<(?<indented>-?)[ \t]*${delimiter}[ \t]*\r?\n`,
);

/**
 * Recognises exactly `apply_patch <<'EOF' … EOF`, also under the name `applypatch`, with any delimiter, quoted or not, with `<<-`, and after
 * `cd <folder> &&`. Everything else, also with one more command, option or redirection, is undefined and left to the shell. Nothing in the
 * text of the patch is expanded.
 */
export function toInterceptedPatch(cmd: string): InterceptedPatch | undefined {
  const found = opening.exec(cmd);
  if (!found?.groups) return undefined;
  const { inDouble, inSingle, bare, single, double, plain, indented } = found.groups;
  const body = toBody(cmd.slice(found[0].length), {
    delimiter: single ?? double ?? plain ?? '',
    indented: indented === '-',
  });
  if (body === undefined) return undefined;
  const workdir = inDouble ?? inSingle ?? bare;
  if (workdir === undefined) return { patch: body };
  return workdir.startsWith('-') ? undefined : { patch: body, workdir };
}

/** Undefined when the delimiter does not close it, or when something follows. */
function toBody(
  text: string,
  { delimiter: word, indented }: { delimiter: string; indented: boolean },
): string | undefined {
  const lines = text.split('\n').map((line) => (indented ? line.replace(/^\t+/, '') : line));
  const end = lines.findIndex((line) => line.replace(/\r$/, '') === word);
  if (end === -1 || lines.slice(end + 1).some((line) => line.trim() !== '')) return undefined;
  return lines.slice(0, end).join('\n');
}
