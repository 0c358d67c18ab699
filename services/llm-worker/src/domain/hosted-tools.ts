import type { ToolSpec } from '@holdfast/protocol';

/** What a provider may run itself, inside of its reply. Offered only where the provider does; a call of it elsewhere is unsupported. */
export const hostedTools: readonly ToolSpec[] = [
  {
    name: 'web_search',
    description: 'Searches the web.',
    placement: 'model',
    effects: 'read',
    supportsParallel: true,
    profiles: ['codex', 'files'],
    form: { kind: 'hosted', type: 'web_search' },
  },
];
