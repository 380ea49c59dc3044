import { Logger } from '@nestjs/common';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { deployedSource, secretRefsOf } from './domain/source.js';
import { threw } from './testing/fakes.js';
import { Disk, Machine, PowerSwitch } from './testing/machine.js';

beforeAll(() => {
  Logger.overrideLogger(false);
});

const COMPONENT = {
  configurableProps: [
    { name: 'http', type: '$.interface.http' },
    { name: 'token', type: 'string', secret: true },
    { name: 'other', type: 'string', secret: true, optional: true },
  ],
};

const boot = (disk: Disk, power?: PowerSwitch): Machine => {
  const machine = new Machine(disk, power);
  machine.catalog.add('one', COMPONENT).add('two', COMPONENT);
  return machine;
};

/** Every id in a held slug, or in data outside the log. */
const leftovers = async (machine: Machine): Promise<object> => {
  const view = await machine.view();
  return {
    listed: [...view.all().keys()],
    slugs: view.reservations.all().map(({ slug }) => slug),
    topics: [...machine.disk.topics.sources],
    secrets: [...machine.disk.vault.secrets.keys()],
    remembered: view.states().size,
  };
};
const NOTHING = { listed: [], slugs: [], topics: [], secrets: [], remembered: 0 };

interface Crash {
  readonly after: number;
  readonly answerLost: boolean;
  /** Only this one effect failed, so the process lives on. */
  readonly blip: boolean;
}

const FAULTS = [true, false].flatMap((blip) => [true, false].map((answerLost) => ({ blip, answerLost })));

/** Runs the operation and cuts the power at each of its effects in turn, before the effect or before its answer. */
const atEachStep = async (
  prepare: (machine: Machine) => Promise<string | undefined>,
  operate: (machine: Machine, id: string) => Promise<unknown>,
  check: (disk: Disk, id: string, crash: Crash) => Promise<void>,
): Promise<number> => {
  const whole = new PowerSwitch();
  const complete = new Disk();
  const completeId = (await prepare(boot(complete))) ?? '';
  await operate(boot(complete, whole), completeId).catch(() => undefined);
  for (let after = 0; after < whole.used; after++) {
    for (const fault of FAULTS) {
      const disk = new Disk();
      const id = (await prepare(boot(disk))) ?? '';
      await operate(boot(disk, new PowerSwitch(after, fault)), id).catch(() => undefined);
      await check(disk, id, { after, ...fault });
    }
  }
  return whole.used;
};

const deploy = (machine: Machine): Promise<unknown> =>
  machine.deploy({ reference: { componentId: 'one' }, name: 'Crash', configuredProps: { token: 'hush', other: 'x' } });

const deployed = async (machine: Machine): Promise<string> => {
  const { source } = await machine.deploy({
    reference: { componentId: 'one' },
    name: 'Crash',
    configuredProps: { token: 'hush' },
  });
  return source.sourceId;
};

describe('a crash in a deployment', () => {
  // docs/reference/rest-api.md#source-operation-crash
  it.each([
    ['that would succeed', undefined],
    ['whose activate throws', threw('boom')],
  ])('%s leaves nothing, or the whole source', async (_, activate) => {
    const steps = await atEachStep(
      async () => undefined,
      (machine) => {
        if (activate) machine.hooks.on('activate', activate);
        return deploy(machine);
      },
      async (disk, _id, crash) => {
        const restarted = boot(disk);
        await restarted.reconcile();
        const left = await leftovers(restarted);
        const types = (await disk.events()).map(({ type }) => type);
        if (types.includes('SourceDeployed')) {
          expect({ crash, left }).toMatchObject({
            left: { slugs: ['crash'], topics: [expect.anything()], listed: [expect.anything()] },
          });
          expect(disk.vault.secrets.size).toBe(2);
        } else {
          expect({ crash, left }).toEqual({ crash, left: NOTHING });
        }
        expect(restarted.hooks.calls).toEqual([]);
        // The name is free again, and rolled-back data cannot come back.
        const again = await restarted.deploy({
          reference: { componentId: 'one' },
          name: 'Crash',
          configuredProps: { token: 'a' },
        });
        expect(again.source.nameSlug).toBe(types.includes('SourceDeployed') ? 'crash-1' : 'crash');
      },
    );
    expect(steps).toBeGreaterThanOrEqual(9);
  });
});

describe('a crash in an update', () => {
  // docs/reference/rest-api.md#source-operation-crash
  it.each([
    ['that would succeed', undefined],
    ['whose activate throws', threw('boom')],
  ])('%s leaves the former source, or the new one', async (_, activate) => {
    const steps = await atEachStep(
      deployed,
      (machine, id) => {
        if (activate) machine.hooks.on('activate bundle-two', activate);
        return machine.update(id, {
          reference: { componentId: 'two' },
          name: 'Renamed',
          configuredProps: { token: 'new', other: 'more' },
        });
      },
      async (disk, id, crash) => {
        const restarted = boot(disk);
        await restarted.reconcile();
        const state = await restarted.stateOf(id);
        expect(state.status).toBe('deployed');
        const source = deployedSource(state);
        const through = (await disk.events()).some(({ type }) => type === 'SourceUpdated');
        const expected = through
          ? { name: 'Renamed', nameSlug: 'renamed', definition: { componentId: 'two' } }
          : { name: 'Crash', nameSlug: 'crash', definition: { componentId: 'one' } };
        expect({ crash, source }).toMatchObject({ crash, source: expected });
        // Exactly its own secrets and slug; its topics were never touched.
        const used = source ? [...secretRefsOf(source.definition)].sort() : [];
        expect([...disk.vault.secrets.keys()].sort()).toEqual(used);
        expect(await leftovers(restarted)).toMatchObject({ listed: [id], slugs: [expected.nameSlug], topics: [id] });
        // And it can be changed again.
        await restarted.update(id, { name: 'Afterwards' });
      },
    );
    expect(steps).toBeGreaterThanOrEqual(9);
  });
});

describe('a crash in a deletion', () => {
  // docs/reference/rest-api.md#source-operation-crash
  it.each([
    ['that would succeed', undefined],
    ['whose deactivate throws', threw('boom')],
  ])('%s leaves the whole source, or nothing', async (_, deactivate) => {
    const steps = await atEachStep(
      deployed,
      (machine, id) => {
        if (deactivate) machine.hooks.on('deactivate', deactivate);
        return machine.delete(id);
      },
      async (disk, id, crash) => {
        const types = (await disk.events()).map(({ type }) => type);
        const restarted = boot(disk);
        const { deleted } = await restarted.reconcile();
        const kept = !types.includes('SourceDeletionStarted') || types.includes('SourceDeletionFailed');
        const left = await leftovers(restarted);
        if (kept) {
          expect({ crash, left }).toMatchObject({ crash, left: { listed: [id], slugs: ['crash'], topics: [id] } });
          expect(disk.vault.secrets.size).toBe(1);
        } else {
          expect({ crash, left }).toEqual({ crash, left: NOTHING });
          expect(deleted).toEqual(types.includes('SourceDeleted') ? [] : [id]);
        }
        expect(restarted.hooks.calls).toEqual([]);
      },
    );
    expect(steps).toBeGreaterThanOrEqual(3);
  });
});

describe('reconcileSources', () => {
  it('survives a crash at each of its own steps', async () => {
    for (let first = 2; first < 9; first++) {
      for (let second = 0; second < 8; second++) {
        const disk = new Disk();
        await deploy(boot(disk, new PowerSwitch(first))).catch(() => undefined);
        await boot(disk, new PowerSwitch(second))
          .reconcile()
          .catch(() => undefined);
        const restarted = boot(disk);
        await restarted.reconcile();
        const through = (await disk.events()).some(({ type }) => type === 'SourceDeployed');
        if (!through) expect(await leftovers(restarted)).toEqual(NOTHING);
      }
    }
  });

  it('changes nothing the second time, and nothing of an intact source', async () => {
    const disk = new Disk();
    const machine = boot(disk);
    const id = await deployed(machine);
    await machine.update(id, { name: 'Other', configuredProps: { token: 'b' } });
    const before = (await disk.events()).length;
    expect(await machine.reconcile()).toEqual({ rolledBack: [], finished: [], deleted: [], released: [] });
    expect(await disk.events()).toHaveLength(before);
  });

  it('skips operations that began after the given time, because another process may run them', async () => {
    const disk = new Disk();
    const start = disk.clock.time;
    await deploy(boot(disk, new PowerSwitch(6))).catch(() => undefined);
    const restarted = boot(disk);
    expect(await restarted.reconcile(start)).toEqual({ rolledBack: [], finished: [], deleted: [], released: [] });
    expect(await restarted.reconcile(disk.clock.time)).toMatchObject({ rolledBack: [expect.any(String)] });
    expect(await leftovers(restarted)).toEqual(NOTHING);
  });

  it('acts as the system on behalf of the owner', async () => {
    const disk = new Disk();
    await deploy(boot(disk, new PowerSwitch(6))).catch(() => undefined);
    await boot(disk).reconcile();
    const failed = (await disk.events()).find(({ type }) => type === 'SourceDeploymentFailed');
    expect(failed).toMatchObject({
      data: { reason: 'the server stopped during the operation' },
      metadata: { actor: { userId: 'u_1', apiKeyId: null }, workspaceId: 'o_1' },
    });
  });
});
