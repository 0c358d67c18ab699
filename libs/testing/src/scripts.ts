import type { Reply, Script } from '@holdfast/model-script';

/** A reply that runs one shell command. */
export function command(cmd: string, more: Record<string, unknown> = {}): Reply {
  return { output: [{ call: { name: 'exec_command', arguments: { cmd, ...more } } }] };
}

/** A reply that applies a patch given by the lines between the envelope. */
export function patch(...lines: string[]): Reply {
  const input = ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n');
  return { output: [{ custom: { name: 'apply_patch', input } }] };
}

/** A final answer. */
export function answer(text: string): Reply {
  return { output: [{ text }] };
}

export function script(...replies: Reply[]): Script {
  return { replies };
}
