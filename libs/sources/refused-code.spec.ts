import { Logger } from '@nestjs/common';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { codeOf } from '#libs/components/testing/fakes.js';
import { dataOf, errorOf } from '#libs/http/testing/replies.js';
import { START } from '#libs/kernel/events.js';
import { OK, threw } from './testing/fakes.js';
import { sourcesWorld, textOf } from './testing/sources-world.js';

beforeAll(() => {
  Logger.overrideLogger(false);
});

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const world = async () => {
  const made = await sourcesWorld();
  closing.push(made.close);
  const { plane, blobs, hooks } = made;
  /** Types of the events of components. */
  const saved = async () =>
    (await plane.events.readAll(START, 1_000)).map(({ type }) => type).filter((type) => type.startsWith('Component'));
  /** Everything that a component leaves behind. */
  const left = async () => ({ events: await saved(), stored: blobs.texts.size, staged: blobs.staged.size });
  /** The bundles that hooks could read. */
  const bundles: (string | undefined)[] = [];
  hooks.during = async ({ definition }) => void bundles.push(await blobs.get(definition.bundleHash));
  return { ...made, saved, left, bundles };
};

const NOTHING = { events: [], stored: 0, staged: 0 };
const CODE = codeOf({ hooks: ['deploy', 'activate', 'deactivate'] });
const BUNDLE = `bundle of ${CODE}`;

// docs/reference/rest-api.md#source-create-component
describe('the code of a deployment', () => {
  it.each(['deploy', 'activate'] as const)('is not saved when %s fails, which can run it', async (hook) => {
    const { call, hooks, left, bundles } = await world();
    hooks.on(hook, threw('boom'));
    expect((await call('post', '/v1/sources').send({ component_code: CODE })).status).toBe(422);
    expect(bundles).toContain(BUNDLE);
    expect(new Set(bundles).size).toBe(1);
    expect(await left()).toEqual(NOTHING);
  });

  it('is not saved when its additionalProps fail, which can run it', async () => {
    const { call, calls, blobs, left } = await world();
    const code = codeOf({
      hasAdditionalProps: true,
      configurableProps: [{ name: 'p', type: 'string', reloadProps: true }],
    });
    let bundle: Promise<string | undefined> | undefined;
    calls.answer = ({ bundleHash }) => {
      bundle = blobs.get(bundleHash);
      return { status: 'threw', error: { name: 'Error', message: 'boom', stack: '', code: 'Error' } };
    };
    const reply = await call('post', '/v1/sources').send({ component_code: code, configured_props: { p: 'x' } });
    expect(errorOf(reply)).toMatchObject({ code: 'additional_props_failed' });
    expect(await bundle).toBe(`bundle of ${code}`);
    expect(await left()).toEqual(NOTHING);
  });

  it('is saved before the source is deployed, and only then', async () => {
    const { call, plane, blobs, left, saved, hooks } = await world();
    const during: string[][] = [];
    hooks.during = async () => void during.push(await saved());
    const id = textOf(dataOf(await call('post', '/v1/sources').send({ component_code: CODE }))['component_id']);
    expect(during).toEqual([[], []]);
    const types = (await plane.events.readAll(START, 100)).map(({ type }) => type);
    expect(types.indexOf('ComponentSaved')).toBe(types.indexOf('SourceDeployed') - 1);
    expect(await left()).toEqual({ events: ['ComponentSaved'], stored: 2, staged: 0 });
    expect([...blobs.texts.values()]).toContain(BUNDLE);
    expect((await call('get', `/v1/components/${id}`)).status).toBe(200);
  });

  it.each([
    ['first', [0, 1]],
    ['last', [1, 0]],
  ])('stays when another deployment of it at the same time is refused, which ends %s', async (_, order) => {
    const { call, hooks, blobs, left } = await world();
    const waiting: (() => void)[] = [];
    hooks.during = async ({ hook }) => {
      if (hook !== 'deploy') return;
      const place = waiting.length;
      await new Promise<void>((resolve) => void waiting.push(resolve));
      hooks.on('deploy', place === 0 ? threw('boom') : OK);
    };
    const replies: Promise<number>[] = [];
    for (const many of [1, 2]) {
      replies.push(
        call('post', '/v1/sources')
          .send({ component_code: CODE })
          .then(({ status }) => status),
      );
      while (waiting.length < many) await new Promise<void>((resolve) => setImmediate(resolve));
    }
    for (const place of order) {
      waiting[place]?.();
      await replies[place];
    }
    expect(await Promise.all(replies)).toEqual([422, 200]);
    expect(await left()).toEqual({ events: ['ComponentSaved'], stored: 2, staged: 0 });
    expect([...blobs.texts.values()]).toContain(BUNDLE);
  });

  it('is released best-effort, so that a source that is deployed stays', async () => {
    const { call, blobs } = await world();
    const { stage } = blobs;
    blobs.stage = async (texts) => {
      await stage.call(blobs, texts);
      return { release: () => Promise.reject(new Error('no disk')) };
    };
    expect((await call('post', '/v1/sources').send({ component_code: CODE })).status).toBe(200);
  });
});

// docs/reference/rest-api.md#source-create-component
describe('the code of an update', () => {
  it.each(['activate', 'deactivate'] as const)('is not saved when %s fails', async (hook) => {
    const { call, create, hooks, left } = await world();
    const id = textOf((await create({ component_code: CODE }))['id']);
    const before = await left();
    hooks.on(hook, threw('boom'));
    const body = { component_code: codeOf({ name: 'New', hooks: ['activate'] }) };
    expect((await call('put', `/v1/sources/${id}`).send(body)).status).toBe(422);
    expect(await left()).toEqual(before);
    hooks.on(hook, OK);
    expect((await call('put', `/v1/sources/${id}`).send(body)).status).toBe(200);
    expect(await left()).toEqual({ events: ['ComponentSaved', 'ComponentSaved'], stored: 4, staged: 0 });
  });

  it('is not refreshed when the update is refused', async () => {
    const { call, create, hooks, left, inspector } = await world();
    inspector.packageVersion = '1.0.0';
    const id = textOf((await create({ component_code: CODE }))['id']);
    const before = await left();
    inspector.packageVersion = '2.0.0';
    hooks.on('activate', threw('boom'));
    const refresh = () => call('put', `/v1/sources/${id}`).send({ refresh_packages: true });
    expect((await refresh()).status).toBe(422);
    expect(await left()).toEqual(before);
    hooks.on('activate', OK);
    expect((await refresh()).status).toBe(200);
    expect((await left()).events).toEqual(['ComponentSaved', 'ComponentPackagesRefreshed']);
  });
});
