import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { makeUpcasters } from '#libs/composition/contexts.js';
import { subscription, type SubscriptionState } from './domain/subscription.js';
import { autoSubscription, type AutoSubscriptionState } from './domain/auto-subscription.js';
import { type AutoSubscriptionEvent, type SubscriptionEvent } from './published.js';

const upcasters = makeUpcasters();

/** A type, or its variant with the optional field. */
type Fixture<E extends SubscriptionEvent | AutoSubscriptionEvent> = E['type'] | `${E['type']}.filter`;

/** Reads a golden event (test/fixtures/events), upcast to the current version. */
const golden = async <E extends SubscriptionEvent | AutoSubscriptionEvent>(
  name: Fixture<E>,
  version: number,
): Promise<E> => {
  const [type = '', variant] = name.split('.');
  const ending = variant === undefined ? `v${version}` : `v${version}.${variant}`;
  const file = new URL(`../../test/fixtures/events/${type}.${ending}.json`, import.meta.url);
  const { data, schemaVersion } = JSON.parse(await readFile(file, 'utf8')) as { data: object; schemaVersion: number };
  expect(schemaVersion).toBe(version);
  const lifted = upcasters.upcast(recorded('x-1', { type, data }, { metadata: { schemaVersion } }));
  return { type: lifted.type, data: lifted.data } as E;
};

const after = async (...types: Fixture<SubscriptionEvent>[]): Promise<SubscriptionState> => {
  let state = subscription.initialState();
  for (const type of types) state = subscription.evolve(state, await golden<SubscriptionEvent>(type, 1));
  return state;
};

const afterAuto = async (...types: AutoSubscriptionEvent['type'][]): Promise<AutoSubscriptionState> => {
  let state = autoSubscription.initialState();
  for (const type of types) state = autoSubscription.evolve(state, await golden<AutoSubscriptionEvent>(type, 1));
  return state;
};

/** The type is exhaustive, so a new event does not compile without its case. */
const CASES: Record<(SubscriptionEvent | AutoSubscriptionEvent)['type'], () => Promise<void>> = {
  SubscriptionCreated: async () => {
    expect(await after('SubscriptionCreated.filter')).toMatchObject({ filter: { 'body.total': { gt: 100 } } });
    expect(await after('SubscriptionCreated')).toEqual({
      filter: null,
      replay: null,
      status: 'exists',
      id: 'sub_0k2f9x8a1b3c5d7e9f',
      userId: 'u_0k2f9x8a1b3c5d7e9f',
      emitterId: 'dc_0k2f9x8a1b3c5d7e9f',
      listenerId: 'wh_0k2f9x8a1b3c5d7e9f',
      eventName: '$errors',
      createdAt: 1_763_712_000_000,
    });
  },
  SubscriptionFilterChanged: async () =>
    expect(await after('SubscriptionCreated.filter', 'SubscriptionFilterChanged')).toMatchObject({
      filter: { kind: 'order' },
    }),
  SubscriptionReplayStarted: async () => {
    const replay = { id: 'rpl_0k2f9x8a1b3c5d7e9f', endsAt: 1_763_712_001_400 };
    expect(await after('SubscriptionCreated', 'SubscriptionReplayStarted')).toMatchObject({ replay });
    expect(await after('SubscriptionCreated', 'SubscriptionReplayStarted.filter')).toMatchObject({ replay });
  },
  SubscriptionReplayCancelled: async () =>
    expect(
      await after('SubscriptionCreated', 'SubscriptionReplayStarted', 'SubscriptionReplayCancelled'),
    ).toMatchObject({ replay: null }),
  SubscriptionDeleted: async () =>
    expect(await after('SubscriptionCreated', 'SubscriptionDeleted')).toEqual({ status: 'none' }),
  AutoSubscriptionCreated: async () =>
    expect(await afterAuto('AutoSubscriptionCreated')).toEqual({
      status: 'exists',
      id: 'asub_0k2f9x8a1b3c5d7e9f',
      userId: 'u_0k2f9x8a1b3c5d7e9f',
      listenerId: 'wh_0k2f9x8a1b3c5d7e9f',
      eventName: '$errors',
      createdAt: 1_763_712_000_000,
    }),
  AutoSubscriptionDeleted: async () =>
    expect(await afterAuto('AutoSubscriptionCreated', 'AutoSubscriptionDeleted')).toEqual({ status: 'none' }),
};

describe('every version of an event of subscriptions', () => {
  it.each(Object.entries(CASES))('%s folds', async (_, check) => check());

  it('is written by the current code in a version with a fixture', () => {
    for (const type of Object.keys(CASES)) expect(upcasters.currentVersion(type)).toBe(1);
  });
});
