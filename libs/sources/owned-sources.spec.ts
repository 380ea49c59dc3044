import { Logger } from '@nestjs/common';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { deployedSource } from './domain/source.js';
import { type OwnedSource, type PlannedSource } from './published.js';
import { threw } from './testing/fakes.js';
import { contextFor, Disk, Machine, PowerSwitch } from './testing/machine.js';

beforeAll(() => {
  Logger.overrideLogger(false);
});

const COMPONENT = {
  configurableProps: [
    { name: 'http', type: '$.interface.http' },
    { name: 'token', type: 'string', secret: true },
  ],
};

const boot = (disk: Disk, power?: PowerSwitch): Machine => {
  const machine = new Machine(disk, power);
  machine.catalog.add('one', COMPONENT).add('two', COMPONENT);
  return machine;
};

interface Change {
  /** Component by source id. */
  readonly plan?: Readonly<Record<string, string>>;
  readonly keep?: readonly string[];
  readonly remove?: readonly string[];
  readonly active?: boolean;
  readonly ignoreHookErrors?: boolean;
  readonly commit?: (context: CommandContext) => Promise<{ position: undefined }>;
}

/** Changes the workflow `p_1`, whose triggers are called as their sources. */
const change = async (machine: Machine, { plan = {}, keep = [], remove = [], ...more }: Change): Promise<unknown> => {
  const owned = await machine.owned();
  const context = contextFor();
  const asOwned = (sourceId: string): OwnedSource => ({ trigger: `of ${sourceId}`, sourceId });
  const planned: PlannedSource[] = [];
  for (const [sourceId, componentId] of Object.entries(plan)) {
    const isNew = (await machine.stateOf(sourceId)).status === 'none';
    const component = await machine.catalog.resolve({ componentId }, context);
    const props = { token: `of ${componentId}` };
    planned.push(await owned.plan({ ...asOwned(sourceId), isNew, component, props }, context));
  }
  const { active = true, ignoreHookErrors = false, commit } = more;
  const sources = [...planned, ...keep.map(asOwned)];
  const ids = sources.map(({ sourceId }) => sourceId);
  const removed = remove.map(asOwned);
  return owned.carryOut(
    { workflowId: 'p_1', sources, removed, active, ignoreHookErrors, context },
    commit ?? ((step) => machine.commit(ids, step).then(() => ({ position: undefined }))),
  );
};

const componentsIn = async (machine: Machine): Promise<object> => {
  const view = await machine.view();
  return Object.fromEntries(
    [...view.all()].map(([id, { status, definition }]) => [id, `${status} ${definition.componentId}`]),
  );
};

const dataOf = ({ disk }: Machine): object => ({
  topics: [...disk.topics.sources].sort(),
  secrets: disk.vault.secrets.size,
});

const failing = async (work: Promise<unknown>) => {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error as { code: string; details: Record<string, unknown> } | undefined;
};

const deployed = async (disk = new Disk()): Promise<Disk> => {
  await change(boot(disk), { plan: { dc_a: 'one', dc_b: 'one' } });
  return disk;
};
const A_AND_B = { dc_a: 'active one', dc_b: 'active one' };

// docs/reference/workflows.md#trigger-owned-source
describe('the sources of a workflow', () => {
  it('are deployed, changed, switched and deleted with it, hooks included', async () => {
    const disk = await deployed();
    const machine = boot(disk);
    expect(await componentsIn(machine)).toEqual(A_AND_B);

    await change(machine, { plan: { dc_a: 'two', dc_c: 'one' }, remove: ['dc_b'] });
    expect(await componentsIn(machine)).toEqual({ dc_a: 'active two', dc_c: 'active one' });
    await change(machine, { keep: ['dc_a', 'dc_c'], active: false });
    expect(await componentsIn(machine)).toEqual({ dc_a: 'inactive two', dc_c: 'inactive one' });
    await change(machine, { remove: ['dc_a', 'dc_c'] });
    expect(await componentsIn(machine)).toEqual({});
    expect(dataOf(machine)).toEqual({ topics: [], secrets: 0 });

    const calls = machine.hooks.calls.filter((call) => call.endsWith('two'));
    expect(calls).toEqual(['activate bundle-two', 'deactivate bundle-two']);
  });

  it('of an inactive workflow get only their deploy hook', async () => {
    const machine = boot(new Disk());
    await change(machine, { plan: { dc_a: 'one' }, active: false });
    expect(machine.hooks.calls).toEqual(['deploy bundle-one']);
    expect(await componentsIn(machine)).toEqual({ dc_a: 'inactive one' });
    await change(machine, { keep: ['dc_a'], active: true });
    expect(machine.hooks.calls).toEqual(['deploy bundle-one', 'activate bundle-one']);
  });

  it('change with it only', async () => {
    const machine = boot(await deployed());
    const details = { id: 'dc_a', workflow_id: 'p_1', trigger: 'of dc_a' };
    const refused = { code: 'source.owned_by_workflow', details };
    expect(await failing(machine.update('dc_a', { name: 'Mine' }))).toMatchObject(refused);
    expect(await failing(machine.delete('dc_a', true))).toMatchObject(refused);
    expect(machine.hooks.calls).toEqual([]);
  });

  it.each([
    ['deploy bundle-two', { dc_c: 'two' }, 'of dc_c'],
    ['activate bundle-two', { dc_c: 'two' }, 'of dc_c'],
    ['activate bundle-two', { dc_a: 'two' }, 'of dc_a'],
    ['deactivate bundle-one', { dc_a: 'two' }, 'of dc_a'],
  ] as const)('stay as they were when %s fails', async (hook, plan, trigger) => {
    const disk = await deployed();
    const machine = boot(disk);
    const before = dataOf(machine);
    machine.hooks.on(hook, threw('boom'));
    const commit = () => Promise.reject(new Error('the workflow was changed'));
    const error = await failing(change(machine, { plan, keep: ['dc_b'], commit }));
    expect(error).toMatchObject({ code: 'source.hook_failed', details: { trigger } });
    expect(await componentsIn(machine)).toEqual(A_AND_B);
    expect(dataOf(machine)).toEqual(before);
  });

  it('get the hooks of their former state when those of another fail, or the workflow is not changed', async () => {
    const machine = boot(await deployed());
    machine.hooks.on('deploy bundle-two', threw('boom'));
    await failing(change(machine, { plan: { dc_c: 'two' }, remove: ['dc_a'] }));
    expect(machine.hooks.calls.filter((call) => call.endsWith('one'))).toEqual([
      'deactivate bundle-one',
      'activate bundle-one',
    ]);
    expect(await componentsIn(machine)).toEqual(A_AND_B);

    const refused = boot(machine.disk);
    const commit = () => Promise.reject(new Error('refused'));
    expect(await failing(change(refused, { plan: { dc_a: 'two' }, keep: ['dc_b'], commit }))).toBeDefined();
    expect(refused.hooks.calls).toEqual([
      'deactivate bundle-one',
      'activate bundle-two',
      'deactivate bundle-two',
      'activate bundle-one',
    ]);
    expect(await componentsIn(refused)).toEqual(A_AND_B);
  });

  it('are deleted in spite of a failing deactivate on request only', async () => {
    const machine = boot(await deployed());
    machine.hooks.on('deactivate', threw('boom'));
    const remove = ['dc_a', 'dc_b'];
    expect(await failing(change(machine, { remove }))).toMatchObject({ details: { trigger: 'of dc_a' } });
    expect(await componentsIn(machine)).toEqual(A_AND_B);
    await change(machine, { remove, ignoreHookErrors: true });
    expect(await componentsIn(machine)).toEqual({});
  });

  it('do not keep it from being changed or deleted when one is gone', async () => {
    const machine = boot(await deployed());
    await change(machine, { remove: ['dc_a'], keep: ['dc_b'] });
    await change(machine, { keep: ['dc_a', 'dc_b'], active: false });
    expect(await componentsIn(machine)).toEqual({ dc_b: 'inactive one' });
    await change(machine, { remove: ['dc_a', 'dc_b'] });
    expect(await componentsIn(machine)).toEqual({});
  });

  it('are not changed by two changes at once', async () => {
    const machine = boot(await deployed());
    const outcomes = await Promise.all([
      failing(change(machine, { plan: { dc_a: 'two' }, keep: ['dc_b'] })),
      failing(change(boot(machine.disk), { remove: ['dc_a'], keep: ['dc_b'] })),
    ]);
    expect(outcomes.filter((error) => error?.code === 'source.busy')).toHaveLength(1);
    expect(outcomes.filter((error) => error === undefined)).toHaveLength(1);
  });

  it('are not put in force after another process ended the operation', async () => {
    const machine = boot(await deployed());
    machine.hooks.during = async ({ hook }) => {
      if (hook === 'activate') await boot(machine.disk).reconcile();
    };
    let committed = 0;
    const commit = async () => {
      committed++;
      return { position: undefined };
    };
    const error = await failing(change(machine, { plan: { dc_c: 'two' }, keep: ['dc_a', 'dc_b'], commit }));
    expect(error).toMatchObject({ code: 'source.busy' });
    expect(committed).toBe(0);
    expect(await componentsIn(machine)).toEqual(A_AND_B);
  });
});

const FAULTS = [true, false].flatMap((blip) => [true, false].map((answerLost) => ({ blip, answerLost })));

describe('a crash while a workflow changes its sources', () => {
  it.each([
    ['that succeeds', undefined],
    ['of which a hook fails', threw('boom')],
  ])('%s leaves all as before, or all as after', async (_, outcome) => {
    const operate = (machine: Machine): Promise<unknown> => {
      if (outcome) machine.hooks.on('activate bundle-two', outcome);
      return change(machine, { plan: { dc_a: 'two', dc_c: 'one' }, remove: ['dc_b'] });
    };
    const whole = new PowerSwitch();
    await failing(operate(boot(await deployed(), whole)));
    expect(whole.used).toBeGreaterThan(12);
    for (let after = 0; after < whole.used; after++)
      for (const fault of FAULTS) {
        const crash = { after, ...fault };
        const disk = await deployed();
        await failing(operate(boot(disk, new PowerSwitch(after, fault))));
        const isMade = (await disk.events()).filter(({ type }) => type === 'WorkflowDeployed').length > 1;
        const restarted = boot(disk);
        await restarted.reconcile();
        const left = await componentsIn(restarted);
        expect({ crash, left }).toEqual({
          crash,
          left: isMade ? { dc_a: 'active two', dc_c: 'active one' } : A_AND_B,
        });
        const topics = isMade ? ['dc_a', 'dc_c'] : ['dc_a', 'dc_b'];
        expect({ crash, data: dataOf(restarted) }).toEqual({ crash, data: { topics, secrets: 2 } });
        expect(restarted.hooks.calls).toEqual([]);
        expect(deployedSource(await restarted.stateOf('dc_a'))?.owner).toEqual({
          workflowId: 'p_1',
          trigger: 'of dc_a',
        });
      }
  });
});
