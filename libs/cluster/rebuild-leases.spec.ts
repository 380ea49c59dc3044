import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '#libs/config/index.js';
import { positionOf } from '#libs/kernel/events.js';
import { type Lease, type Leases } from '#libs/kernel/leases.js';
import { type ProcessRegistry, type ProcessReport } from '#libs/kernel/process-registry.js';
import { everyReadModel } from '#libs/composition/read-models.js';
import { withProjectionLeases } from './rebuild.js';

const projector: ProcessReport = { id: 'proc_1', role: 'projector', position: positionOf(0), backlog: 0, uptimeMs: 0 };
const router: ProcessReport = { ...projector, id: 'proc_2', role: 'router' };

const models = everyReadModel(loadConfig({}));
const held = new Set<string>();
const leases: Leases = {
  acquire: async (name): Promise<Lease> => {
    held.add(name);
    return { name, token: 1, lost: new AbortController().signal, release: async () => void held.delete(name) };
  },
};
const registryOf = (looks: readonly (readonly ProcessReport[])[]): ProcessRegistry => {
  let look = 0;
  return {
    report: async () => undefined,
    leave: async () => undefined,
    registered: async () => [],
    live: async () => looks[Math.min(look++, looks.length - 1)] ?? [],
  };
};

describe('the work of a rebuild', () => {
  it('begins when the last projector has ended, also one that held no lease', async () => {
    const registry = registryOf([[projector, router], [router]]);
    const work = async (): Promise<number> => held.size;
    expect(await withProjectionLeases({ leases, registry }, models, work, 120_000)).toBeGreaterThan(2);
    expect(held.size).toBe(0);
  });

  it('is refused while a projector lives that holds no lease', async () => {
    const registry = registryOf([[projector, router]]);
    const work = (): Promise<never> => Promise.reject(new Error('it began'));
    await expect(withProjectionLeases({ leases, registry }, models, work, 100)).rejects.toThrow(
      'stop the projector processes (proc_1) first: they hold lanes of read models',
    );
    expect(held.size).toBe(0);
  });
});
