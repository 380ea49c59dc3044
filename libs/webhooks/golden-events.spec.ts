import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { makeUpcasters } from '#libs/composition/contexts.js';
import { webhook, type WebhookState } from './domain/webhook.js';
import { type WebhookEvent } from './published.js';

const upcasters = makeUpcasters();

const RULES = { timeoutS: 20, maxAttempts: 3, ordered: true };

/** Reads a golden event (test/fixtures/events), upcast to the current version. */
const golden = async (type: WebhookEvent['type']): Promise<WebhookEvent> => {
  const file = new URL(`../../test/fixtures/events/${type}.v1.json`, import.meta.url);
  const { data, schemaVersion } = JSON.parse(await readFile(file, 'utf8')) as { data: object; schemaVersion: number };
  expect(schemaVersion).toBe(1);
  const lifted = upcasters.upcast(recorded('x-1', { type, data }, { metadata: { schemaVersion } }));
  return { type: lifted.type, data: lifted.data } as WebhookEvent;
};

const after = async (...types: WebhookEvent['type'][]): Promise<WebhookState> => {
  let state = webhook.initialState();
  for (const type of types) state = webhook.evolve(state, await golden(type));
  return state;
};

/** The type is exhaustive, so a new event does not compile without its case. */
const CASES: Record<WebhookEvent['type'], () => Promise<void>> = {
  WebhookCreated: async () => {
    expect(await after('WebhookCreated')).toEqual({
      status: 'exists',
      id: 'wh_0k2f9x8a1b3c5d7e9f',
      userId: 'u_0k2f9x8a1b3c5d7e9f',
      name: 'Orders',
      description: null,
      url: 'https://example.com/hook',
      active: true,
      disabledReason: null,
      rules: RULES,
      signingKeyRef: 'sec_0k2f9x8a1b3c5d7e9f',
      createdAt: 1_763_712_000_000,
      updatedAt: 1_763_712_000_000,
    });
  },
  WebhookUpdated: async () => {
    expect(await after('WebhookCreated', 'WebhookUpdated')).toMatchObject({
      rules: RULES,
      name: 'Orders 2',
      description: 'To the shop',
      url: 'https://example.com/hook2',
      active: false,
      updatedAt: 1_763_712_001_000,
    });
  },
  WebhookDisabled: async () =>
    expect(await after('WebhookCreated', 'WebhookDisabled')).toMatchObject({
      active: false,
      updatedAt: 1_763_712_002_000,
    }),
  WebhookSigningKeyRegenerated: async () =>
    expect(await after('WebhookCreated', 'WebhookSigningKeyRegenerated')).toMatchObject({
      signingKeyRef: 'sec_1k2f9x8a1b3c5d7e9f',
      updatedAt: 1_763_712_003_000,
    }),
  WebhookDeleted: async () => expect(await after('WebhookCreated', 'WebhookDeleted')).toEqual({ status: 'deleted' }),
};

describe('every version of an event of webhooks', () => {
  it.each(Object.entries(CASES))('%s folds', async (_, check) => check());

  it('is written by the current code in a version with a fixture', () => {
    for (const type of Object.keys(CASES)) expect(upcasters.currentVersion(type)).toBe(1);
  });
});
