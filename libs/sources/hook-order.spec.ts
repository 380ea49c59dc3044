import { Logger } from '@nestjs/common';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { deployedSource, type SourceState } from './domain/source.js';
import { propsOf } from './published.js';
import { contextFor, Machine } from './testing/machine.js';
import { threw } from './testing/fakes.js';

beforeAll(() => {
  Logger.overrideLogger(false);
});

const machine = (): Machine => {
  const made = new Machine();
  made.catalog
    .add('one')
    .add('two')
    .add('hookless', { hooks: [] })
    .add('http', { configurableProps: [{ name: 'http', type: '$.interface.http' }] });
  return made;
};
const deployed = async (made: Machine, componentId = 'one'): Promise<string> => {
  const { source } = await made.deploy({ reference: { componentId } });
  made.hooks.calls.length = 0;
  made.hooks.endedOperations.length = 0;
  return source.sourceId;
};
const facts = async (made: Machine): Promise<string[]> =>
  (await made.disk.events()).map(({ type }) => type).filter((type) => type.startsWith('Source'));

const keyOf = (state: SourceState): string => {
  const source = deployedSource(state);
  return source ? (propsOf(source.definition, 'http')[0]?.key ?? '') : '';
};

describe('create', () => {
  it('runs deploy, then activate, and lists the source only afterwards', async () => {
    const made = machine();
    const seen: (string | undefined)[] = [];
    made.hooks.during = async ({ sourceId }) => {
      seen.push((await made.view()).find(sourceId)?.status);
    };
    const { source } = await made.deploy();
    expect(made.hooks.calls).toEqual(['deploy bundle-one', 'activate bundle-one']);
    expect(seen).toEqual(['deploying', 'deploying']);
    expect(made.hooks.endedOperations).toEqual([source.sourceId]);
    expect(source).toMatchObject({ active: true, name: 'hello-world', nameSlug: 'hello-world' });
    expect(await facts(made)).toEqual(['SourceDeploymentStarted', 'SourceDeployed']);
  });

  it('serves its endpoints while activate runs', async () => {
    const made = machine();
    let served: unknown;
    made.hooks.during = async ({ sourceId, definition, hook }) => {
      const key = propsOf(definition, 'http')[0]?.key ?? '';
      if (hook === 'activate') served = (await made.view()).endpoint(key);
      expect(served === undefined || sourceId !== '').toBe(true);
    };
    const { source } = await made.deploy({ reference: { componentId: 'http' } });
    expect(served).toEqual({ sourceId: source.sourceId, workspaceId: 'o_1', prop: 'http', customResponse: false });
  });

  it('runs no hook that the component does not have', async () => {
    const made = machine();
    await made.deploy({ reference: { componentId: 'hookless' } });
    expect(made.hooks.calls).toEqual([]);
  });

  // docs/reference/rest-api.md#emit-on-deploy
  it('passes emit_on_deploy to the runner', async () => {
    const made = machine();
    const flags: boolean[] = [];
    made.hooks.during = async ({ definition }) => {
      flags.push(definition.emitOnDeploy);
    };
    await made.deploy({ emitOnDeploy: false });
    expect(flags).toEqual([false, false]);
  });

  it.each([
    ['deploy', ['deploy bundle-one']],
    ['activate', ['deploy bundle-one', 'activate bundle-one', 'deactivate bundle-one']],
  ] as const)('leaves nothing when %s throws, and deactivates only if activate had started', async (hook, calls) => {
    const made = machine();
    made.hooks.on(hook, threw('boom'));
    await expect(made.deploy()).rejects.toMatchObject({
      code: 'source.hook_failed',
      details: {
        hook,
        observations: expect.arrayContaining([
          { k: 'hook', ts: expect.any(Number), h: hook },
          { k: 'console.log', ts: 7, msg: 'about to fail' },
          {
            k: 'error',
            ts: expect.any(Number),
            err: { name: 'TypeError', message: 'boom', stack: expect.stringContaining('at run') },
          },
        ]),
      },
    });
    expect(made.hooks.calls).toEqual(calls);
    expect(await facts(made)).toEqual(['SourceDeploymentStarted', 'SourceDeploymentFailed']);
    const view = await made.view();
    expect([view.all().size, view.reservations.all(), made.disk.topics.sources.size]).toEqual([0, [], 0]);
  });

  // docs/reference/rest-api.md#source-create-failure
  it('ignores a failing deactivate after a failed activate', async () => {
    const made = machine();
    made.hooks.on('activate', threw('first')).on('deactivate', threw('second'));
    await expect(made.deploy()).rejects.toThrow(/hook activate failed: TypeError: first/);
    expect((await made.view()).reservations.all()).toEqual([]);
  });

  it('is undone when the platform fails in a hook', async () => {
    const made = machine();
    made.hooks.during = () => Promise.reject(new Error('no process available'));
    await expect(made.deploy()).rejects.toThrow('no process available');
    const [, failed] = (await made.disk.events()).filter(({ stream }) => stream.startsWith('source-'));
    expect(failed?.data).toMatchObject({ reason: 'platform failure: Error', observations: [] });
    expect((await made.view()).reservations.all()).toEqual([]);
  });

  it('refuses an action before anything exists', async () => {
    const made = machine();
    made.catalog.add('act', { kind: 'action' });
    await expect(made.deploy({ reference: { componentId: 'act' } })).rejects.toMatchObject({
      code: 'component.not_deployable',
    });
    expect(await made.disk.events()).toEqual([]);
  });
});

describe('update of an active source', () => {
  it('deactivates with the old code and activates with the new, without deploy', async () => {
    const made = machine();
    const id = await deployed(made);
    const { source } = await made.update(id, { reference: { componentId: 'two' } });
    expect(made.hooks.calls).toEqual(['deactivate bundle-one', 'activate bundle-two']);
    expect(source).toMatchObject({ sourceId: id, active: true, definition: { componentId: 'two' } });
    expect(made.hooks.endedOperations).toEqual([id]);
  });

  it('serves old and new endpoints while activate runs', async () => {
    const made = machine();
    const id = await deployed(made, 'http');
    const old = keyOf(await made.stateOf(id));
    made.catalog.add('http2', {
      configurableProps: [
        { name: 'http', type: '$.interface.http' },
        { name: 'more', type: '$.interface.http' },
      ],
    });
    const served: unknown[] = [];
    made.hooks.during = async ({ hook, definition }) => {
      if (hook !== 'activate') return;
      const view = await made.view();
      for (const { key } of propsOf(definition, 'http')) served.push(view.endpoint(key)?.prop);
      expect(propsOf(definition, 'http')[0]?.key).toBe(old);
    };
    await made.update(id, { reference: { componentId: 'http2' } });
    expect(served).toEqual(['http', 'more']);
  });

  it('changes nothing when deactivate throws', async () => {
    const made = machine();
    const id = await deployed(made);
    made.hooks.on('deactivate', threw('no'));
    await expect(made.update(id, { reference: { componentId: 'two' } })).rejects.toMatchObject({
      code: 'source.hook_failed',
    });
    expect(made.hooks.calls).toEqual(['deactivate bundle-one']);
    expect(deployedSource(await made.stateOf(id))).toMatchObject({ active: true, definition: { componentId: 'one' } });
  });

  it('continues after a failing deactivate when the caller ignores hook errors', async () => {
    const made = machine();
    const id = await deployed(made);
    made.hooks.on('deactivate', threw('no'));
    const changed = await made.update(id, { reference: { componentId: 'two' }, ignoreHookErrors: true });
    expect(changed.source.definition.componentId).toBe('two');
    expect(made.hooks.calls).toEqual(['deactivate bundle-one', 'activate bundle-two']);
  });

  it('restores and activates the old code when the new activate fails', async () => {
    const made = machine();
    const id = await deployed(made);
    made.hooks.on('activate bundle-two', threw('boom'));
    const failing = made.update(id, { reference: { componentId: 'two' }, name: 'Renamed' });
    await expect(failing).rejects.toMatchObject({
      code: 'source.hook_failed',
      message: expect.stringContaining('boom'),
    });
    expect(made.hooks.calls).toEqual(['deactivate bundle-one', 'activate bundle-two', 'activate bundle-one']);
    expect(deployedSource(await made.stateOf(id))).toMatchObject({
      name: 'hello-world',
      active: true,
      definition: { componentId: 'one' },
    });
    expect((await made.view()).reservations.all().map(({ slug }) => slug)).toEqual(['hello-world']);
    expect(await facts(made)).toContain('SourceUpdateFailed');
  });

  it('reports the first failure when the old activate fails too', async () => {
    const made = machine();
    const id = await deployed(made);
    made.hooks.on('activate', threw('boom'));
    await expect(made.update(id, { reference: { componentId: 'two' } })).rejects.toThrow(/hook activate failed/);
    expect(deployedSource(await made.stateOf(id))?.active).toBe(true);
    expect(made.hooks.endedOperations).toEqual([id]);
  });

  // docs/reference/rest-api.md#source-update-nothing #source-update-name
  it('runs no hooks for a new name alone or when nothing changes', async () => {
    const made = machine();
    const id = await deployed(made);
    const renamed = await made.update(id, { name: 'New Name' });
    expect(renamed.source).toMatchObject({ name: 'New Name', nameSlug: 'new-name' });
    const same = await made.update(id, { reference: { componentId: 'one' }, name: 'New Name', configuredProps: {} });
    expect(same.position).toBeUndefined();
    expect(same.source).toEqual(renamed.source);
    expect(made.hooks.calls).toEqual([]);
  });
});

describe('the same secret sent again', () => {
  it('changes nothing; another one does', async () => {
    const made = machine();
    made.catalog.add('secretive', { configurableProps: [{ name: 'token', type: 'string', secret: true }] });
    const { source } = await made.deploy({
      reference: { componentId: 'secretive' },
      configuredProps: { token: 'hush' },
    });
    made.hooks.calls.length = 0;
    const same = await made.update(source.sourceId, { configuredProps: { token: 'hush' } });
    expect([same.position, made.hooks.calls, made.disk.vault.secrets.size]).toEqual([undefined, [], 1]);
    await made.update(source.sourceId, { configuredProps: { token: 'other' } });
    expect(made.hooks.calls).toEqual(['deactivate bundle-secretive', 'activate bundle-secretive']);
    expect([...made.disk.vault.secrets.values()].map(({ plaintext }) => plaintext)).toEqual(['other']);
  });
});

describe('active', () => {
  it('false deactivates, true activates, and a repeat does nothing', async () => {
    const made = machine();
    const id = await deployed(made);
    expect((await made.update(id, { active: false })).source.active).toBe(false);
    await made.update(id, { active: false });
    expect(made.hooks.calls).toEqual(['deactivate bundle-one']);
    expect((await made.update(id, { active: true })).source.active).toBe(true);
    expect(made.hooks.calls).toEqual(['deactivate bundle-one', 'activate bundle-one']);
  });

  it('false with new code deactivates the old code and does not activate the new', async () => {
    const made = machine();
    const id = await deployed(made);
    await made.update(id, { active: false, reference: { componentId: 'two' } });
    await made.update(id, { active: false, reference: { componentId: 'one' } });
    await made.update(id, { active: true, reference: { componentId: 'two' } });
    expect(made.hooks.calls).toEqual(['deactivate bundle-one', 'activate bundle-two']);
  });

  it('stays false when activate throws, and the new definition is deactivated', async () => {
    const made = machine();
    const id = await deployed(made);
    await made.update(id, { active: false });
    made.hooks.calls.length = 0;
    made.hooks.on('activate', threw('boom'));
    await expect(made.update(id, { active: true })).rejects.toMatchObject({ code: 'source.hook_failed' });
    expect(made.hooks.calls).toEqual(['activate bundle-one', 'deactivate bundle-one']);
    expect(deployedSource(await made.stateOf(id))?.active).toBe(false);
  });

  it('controls endpoints and timers', async () => {
    const made = machine();
    made.catalog.add('both', {
      hooks: [],
      configurableProps: [
        { name: 'http', type: '$.interface.http' },
        { name: 'timer', type: '$.interface.timer', default: { intervalSeconds: 60 } },
      ],
    });
    const id = await deployed(made, 'both');
    const key = keyOf(await made.stateOf(id));
    const now = async () => {
      const view = await made.view();
      return [view.endpoint(key) !== undefined, view.armed(id)?.timers.length, view.armed(id)?.first];
    };
    expect(await now()).toEqual([true, 1, true]);
    await made.update(id, { active: false });
    expect(await now()).toEqual([false, 0, false]);
    await made.update(id, { active: true });
    expect(await now()).toEqual([true, 1, false]);
    await made.delete(id);
    expect(await now()).toEqual([false, undefined, undefined]);
  });
});

describe('delete', () => {
  it('deactivates, then leaves nothing', async () => {
    const made = machine();
    const id = await deployed(made);
    await made.delete(id);
    expect(made.hooks.calls).toEqual(['deactivate bundle-one']);
    expect(made.hooks.endedOperations).toEqual([id]);
    const view = await made.view();
    expect([view.find(id), view.reservations.all(), made.disk.topics.sources.size]).toEqual([undefined, [], 0]);
    expect((await made.stateOf(id)).status).toBe('gone');
  });

  it('of an inactive source runs no hook', async () => {
    const made = machine();
    const id = await deployed(made);
    await made.update(id, { active: false });
    made.hooks.calls.length = 0;
    await made.delete(id);
    expect(made.hooks.calls).toEqual([]);
  });

  it('keeps the source when deactivate throws, unless the caller ignores hook errors', async () => {
    const made = machine();
    const id = await deployed(made);
    made.hooks.on('deactivate', threw('no'));
    await expect(made.delete(id)).rejects.toMatchObject({ code: 'source.hook_failed' });
    expect(deployedSource(await made.stateOf(id))?.active).toBe(true);
    expect(made.disk.topics.sources.has(id)).toBe(true);
    await made.delete(id, true);
    expect((await made.stateOf(id)).status).toBe('gone');
  });

  it('is refused as not found the second time, and for a source of another workspace', async () => {
    const made = machine();
    const id = await deployed(made);
    await expect(made.delete(id, false, contextFor('o_2'))).rejects.toMatchObject({ code: 'source.not_found' });
    await made.delete(id);
    await expect(made.delete(id)).rejects.toMatchObject({ code: 'source.not_found' });
  });
});
