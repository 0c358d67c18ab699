import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toInterceptedPatch } from '../../src/tools/apply-patch/heredoc.ts';

const patch = '*** Begin Patch\n*** Add File: a\n+$HOME `x` \\\n*** End Patch';

describe('a command that is only a patch', () => {
  test.each([
    ["apply_patch <<'EOF'\n{patch}\nEOF", undefined],
    ['apply_patch <<"EOF"\n{patch}\nEOF\n', undefined],
    ['applypatch <<EOF\n{patch}\nEOF', undefined],
    ["  apply_patch<< 'END-PATCH' \n{patch}\nEND-PATCH\n\n", undefined],
    ["apply_patch <<-'EOF'\n\t{patch}\n\tEOF", undefined],
    ["cd src && apply_patch <<'EOF'\n{patch}\nEOF", 'src'],
    ["cd /a/b-c.d/e_f && applypatch <<'EOF'\n{patch}\nEOF", '/a/b-c.d/e_f'],
    ["cd ../x &&\n  apply_patch <<'EOF'\n{patch}\nEOF", '../x'],
    ['cd "my folder" && apply_patch <<EOF\n{patch}\nEOF', 'my folder'],
    ["cd 'my $folder' && apply_patch <<EOF\n{patch}\nEOF", 'my $folder'],
  ])('is recognised: %j', (command, workdir) => {
    expect(toInterceptedPatch(command.replace('{patch}', () => patch))).toEqual({
      patch,
      ...(workdir === undefined ? {} : { workdir }),
    });
  });

  test.each([
    '',
    'apply_patch',
    `apply_patch '${patch}'`,
    'apply_patch <<< x',
    "cat <<'EOF'\n{patch}\nEOF",
    "apply_patch <<'EOF'\n{patch}",
    "apply_patch <<'EOF'\n{patch}\nEOF; ls",
    "apply_patch <<'EOF'\n{patch}\nEOF\nls",
    "apply_patch <<'EOF' && ls\n{patch}\nEOF",
    "apply_patch <<'EOF' > log\n{patch}\nEOF",
    "apply_patch --dry <<'EOF'\n{patch}\nEOF",
    "ls; apply_patch <<'EOF'\n{patch}\nEOF",
    "A=1 apply_patch <<'EOF'\n{patch}\nEOF",
    "sudo apply_patch <<'EOF'\n{patch}\nEOF",
    'apply_patch <<\'EOF"\n{patch}\nEOF',
    "apply_patch <<'EOF'\n{patch}\n EOF",
    "apply_patch <<'EOF'\nEOF\n{patch}\nEOF",
    "cd src || apply_patch <<'EOF'\n{patch}\nEOF",
    "cd src; apply_patch <<'EOF'\n{patch}\nEOF",
    "cd src lib && apply_patch <<'EOF'\n{patch}\nEOF",
    "cd && apply_patch <<'EOF'\n{patch}\nEOF",
    "cd - && apply_patch <<'EOF'\n{patch}\nEOF",
    "cd '-' && apply_patch <<'EOF'\n{patch}\nEOF",
    "cd ~/x && apply_patch <<'EOF'\n{patch}\nEOF",
    "cd $HOME && apply_patch <<'EOF'\n{patch}\nEOF",
    'cd "$HOME" && apply_patch <<EOF\n{patch}\nEOF',
    "cd a* && apply_patch <<'EOF'\n{patch}\nEOF",
    "cd a && cd b && apply_patch <<'EOF'\n{patch}\nEOF",
  ])('is left to the shell when it is anything else: %j', (command) => {
    expect(toInterceptedPatch(command.replace('{patch}', () => patch))).toBeUndefined();
  });

  test('gives the patch what the shell would give it', () => {
    const line = fc.constantFrom('', '+x', ' y', '\tz', '+EOF', 'EOF2', "+'", '+"', '+$', '***', 'EOF');
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), fc.boolean(), (lines, indented) => {
        const command = `apply_patch <<${indented ? '-' : ''}'EOF'\n${lines.map((text) => `${text}\n`).join('')}EOF\n`;
        const shell = spawnSync('bash', ['-c', `apply_patch() { cat; }\n${command}`], { encoding: 'utf8' });
        const taken = toInterceptedPatch(command);
        const given = taken && taken.patch + (lines.length === 0 ? '' : '\n');
        expect(given).toBe(lines.includes('EOF') ? undefined : shell.stdout);
      }),
      { numRuns: 60 },
    );
  });
});
