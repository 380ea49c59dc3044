import { Logger } from '@nestjs/common';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Machine } from './testing/machine.js';

beforeAll(() => {
  Logger.overrideLogger(false);
});

const machine = (): Machine => {
  const made = new Machine();
  made.catalog.add('one').add('two');
  return made;
};
const deployed = async (made: Machine): Promise<string> => (await made.deploy()).source.sourceId;

describe('concurrent operations', () => {
  /** Holds the first hook until it is released. */
  const held = (made: Machine): { started: Promise<void>; release: () => void } => {
    let release = (): void => undefined;
    let begin = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const started = new Promise<void>((resolve) => (begin = resolve));
    made.hooks.during = async () => {
      begin();
      await gate;
    };
    return { started, release };
  };

  it.each<[string, (made: Machine, id: string) => Promise<unknown>]>([
    ['update', (made, id) => made.update(id, { name: 'Second' })],
    ['deletion', (made, id) => made.delete(id)],
    ['deactivation', (made, id) => made.update(id, { active: false })],
  ])('a second operation (%s) of a source is refused while the first runs', async (_, second) => {
    const made = machine();
    const id = await deployed(made);
    const { started, release } = held(made);
    const first = made.update(id, { reference: { componentId: 'two' } });
    await started;
    await expect(second(made, id)).rejects.toMatchObject({ code: 'source.busy' });
    // Another process, which shares only the log with the first one.
    const other = new Machine(made.disk);
    other.catalog.add('two');
    await expect(second(other, id)).rejects.toMatchObject({ code: 'source.busy' });
    release();
    expect((await first).source.definition.componentId).toBe('two');
    expect((await made.view()).reservations.all().map(({ slug }) => slug)).toEqual(['hello-world']);
  });

  it('one of two updates is refused when two processes start them from one state', async () => {
    const made = machine();
    const id = await deployed(made);
    const other = new Machine(made.disk);
    other.catalog.add('two');
    const results = await Promise.allSettled([
      made.update(id, { reference: { componentId: 'two' }, name: 'Same' }),
      other.update(id, { reference: { componentId: 'two' }, name: 'Same' }),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = results.find((result) => result.status === 'rejected');
    expect(refused?.reason).toMatchObject({ code: 'source.busy' });
    expect((await made.view()).reservations.all().map(({ slug }) => slug)).toEqual(['same']);
  });

  it('a stale if_updated_at is refused before any effect', async () => {
    const made = machine();
    const id = await deployed(made);
    const { source } = await made.update(id, { name: 'First' });
    await expect(made.update(id, { name: 'Second', ifUpdatedAt: 1 })).rejects.toMatchObject({
      code: 'source.stale_update',
    });
    const seen = Math.floor(source.updatedAt / 1000);
    await made.update(id, { name: 'Third', ifUpdatedAt: seen });
    await expect(made.update(id, { name: 'Fourth', ifUpdatedAt: seen })).rejects.toMatchObject({
      code: 'source.stale_update',
    });
  });

  it('thirty sources of one name get thirty slugs', async () => {
    const disk = machine().disk;
    const processes = [new Machine(disk), new Machine(disk), new Machine(disk)];
    for (const made of processes) made.catalog.add('one');
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, i) => (processes[i % 3] as Machine).deploy({ name: 'Race' })),
    );
    const slugs = results.map(({ source }) => source.nameSlug).sort();
    const expected = ['race', ...Array.from({ length: 29 }, (_, i) => `race-${i + 1}`)].sort();
    expect(slugs).toEqual(expected);
  });
});
