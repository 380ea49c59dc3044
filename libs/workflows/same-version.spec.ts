import { describe, expect, it } from '@jest/globals';
import { isSame } from './deployments.js';
import { type KnownVersion } from './domain/stored-version.js';

const version = (definition: object): KnownVersion => ({
  triggers: [],
  stored: {
    deployed: { workflowId: 'p_1', deploymentId: 'd_1', version: 1, settings: {} as never, steps: [] },
    definition: { ...definition },
    components: [],
    sources: [],
  },
});
const planned = (definition: object) => ({ definition: { ...definition }, triggers: [], steps: [], sources: [] });

describe('a definition that is deployed again', () => {
  it('is the same version, whatever the order of keys and the schema', () => {
    const deployed = version({ schema: 'sluice.workflow/1', steps: [], settings: { queue_size: 3, memory_mb: 64 } });
    expect(isSame(planned({ settings: { memory_mb: 64, queue_size: 3 }, steps: [] }), deployed)).toBe(true);
    expect(isSame(planned({ schema: 'sluice.workflow/1', steps: [] }), version({ steps: [] }))).toBe(true);
  });

  it('is another version when anything else differs', () =>
    expect(isSame(planned({ steps: [], settings: { queue_size: 4 } }), version({ steps: [] }))).toBe(false));
});
