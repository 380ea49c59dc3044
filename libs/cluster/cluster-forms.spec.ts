import { describe, expect, it } from '@jest/globals';
import { FORMS, SEEN_MS, SETTLED_MS } from '#libs/kernel/forms.js';
import { positionOf } from '#libs/kernel/events.js';
import { type ProcessReport } from '#libs/kernel/process-registry.js';
import { ClusterForms, LOOK_MS } from './cluster-forms.js';

const [form] = FORMS;
const report = (id: string, reads?: readonly string[]): ProcessReport => ({
  id,
  role: 'router',
  position: positionOf(0),
  backlog: 0,
  ...(reads && { reads }),
});

class World {
  now = 0;
  withdrawn = 0;
  failure: Error | undefined;
  live: readonly ProcessReport[] = [report('own', FORMS)];
  readonly forms = new ClusterForms('own', () => this.now);
  private readonly registry = {
    live: async (): Promise<readonly ProcessReport[]> => {
      if (this.failure) throw this.failure;
      return this.live;
    },
  };

  constructor() {
    this.forms.onWithdrawn(() => this.withdrawn++);
  }

  async lookFor(ms: number): Promise<void> {
    for (const until = this.now + ms; this.now <= until; this.now += LOOK_MS) await this.forms.look(this.registry);
    this.now -= LOOK_MS;
  }

  /** Looks in vain. */
  async failFor(ms: number): Promise<void> {
    this.failure = new Error('MongoDB is away');
    for (const until = this.now + ms; this.now < until; this.now += LOOK_MS) {
      await expect(this.forms.look(this.registry)).rejects.toThrow('MongoDB is away');
    }
    this.failure = undefined;
  }
}

describe('the forms that a process may write', () => {
  it('are none until it has seen the others for some time', async () => {
    const world = new World();
    expect(world.forms.mayWrite(form)).toBe(false);
    await world.lookFor(SETTLED_MS - LOOK_MS);
    expect(world.forms.mayWrite(form)).toBe(false);
    await world.lookFor(2 * LOOK_MS);
    expect(world.forms.mayWrite(form)).toBe(true);
    expect(world.withdrawn).toBe(0);
  });

  it('are withdrawn, and it is told so once, when a process of an earlier release starts', async () => {
    const world = new World();
    await world.lookFor(2 * SETTLED_MS);
    world.live = [...world.live, report('old')];
    await world.lookFor(2 * LOOK_MS);
    expect(world.forms.mayWrite(form)).toBe(false);
    expect(world.withdrawn).toBe(1);
    world.live = [report('own', FORMS)];
    await world.lookFor(2 * SETTLED_MS);
    expect(world.forms.mayWrite(form)).toBe(true);
  });

  it('stay when one look fails', async () => {
    const world = new World();
    await world.lookFor(2 * SETTLED_MS);
    await world.failFor(LOOK_MS);
    await world.lookFor(LOOK_MS);
    expect(world.forms.mayWrite(form)).toBe(true);
    expect(world.withdrawn).toBe(0);
  });

  it('are withdrawn when the registry cannot be read', async () => {
    const world = new World();
    await world.lookFor(2 * SETTLED_MS);
    await world.failFor(SEEN_MS + LOOK_MS);
    expect(world.forms.mayWrite(form)).toBe(false);
    expect(world.withdrawn).toBe(1);
  });
});
