import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { codeOf } from '#libs/components/testing/fakes.js';
import { dataOf, errorOf } from '#libs/http/testing/replies.js';
import { sourcesWorld, textOf } from './testing/sources-world.js';

beforeAll(() => {
  Logger.overrideLogger(false);
});

let close: () => Promise<void> = () => Promise.resolve();
afterEach(() => close());

/** A world with a saved component that has a hook. */
const savedComponent = async (declared: Parameters<typeof codeOf>[0] = {}) => {
  const made = await sourcesWorld();
  close = made.close;
  const code = codeOf({ name: 'Hooked', hooks: ['deploy'], ...declared });
  const saved = dataOf(await made.call('post', '/v1/components').send({ component_code: code }));
  const id = textOf(saved['id']);
  return { ...made, id, path: `/v1/components/${id}` };
};

describe('a component that is deleted while a source of it is deployed', () => {
  // docs/reference/rest-api.md#component-delete
  it('stays when the source was written first, whose deployment goes on', async () => {
    const { call, create, hooks, id, path } = await savedComponent();
    let refused: unknown;
    hooks.during = async () => {
      refused = errorOf(await call('delete', path));
    };
    const source = await create({ component_id: id });
    expect(refused).toMatchObject({
      status: 409,
      code: 'component_in_use',
      details: { sources: [{ id: source['id'] }] },
    });
    expect((await call('get', path)).status).toBe(200);
  });

  it('is saved again by the deployment when it was deleted first', async () => {
    const { call, calls, create, id, path } = await savedComponent({ hasAdditionalProps: true });
    const statuses: number[] = [];
    calls.call = async () => {
      // The deployment has found the component, and no source is written yet.
      statuses.push((await call('delete', path)).status, (await call('get', path)).status);
      return { status: 'ok', logs: [], value: '{"props":[]}' };
    };
    expect(await create({ component_id: id })).toMatchObject({ component_id: id, active: true });
    expect(statuses).toEqual([204, 404]);
    expect((await call('get', path)).status).toBe(200);
  });
});
