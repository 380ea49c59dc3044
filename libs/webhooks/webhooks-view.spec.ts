import { describe, expect, it } from '@jest/globals';
import { InMemoryVault } from '#libs/kernel/testing/control-plane.js';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { DEFAULT_RULES } from './published.js';
import { webhookDirectory, WebhooksView } from './webhooks-view.js';

const said = (type: string, data: object) => recorded('webhook-wh_1', { type, data });
const created = said('WebhookCreated', { url: 'https://a.example', signingKeyRef: 'sec_1', rules: DEFAULT_RULES });
const regenerated = (signingKeyRef: string, formerKeyRef: string, formerValidUntil: number) =>
  said('WebhookSigningKeyRegenerated', { signingKeyRef, formerKeyRef, formerValidUntil, regeneratedAt: 0 });

const world = (...events: ReturnType<typeof said>[]) => {
  const time = { now: 1_000 };
  const view = new WebhooksView({ now: () => time.now });
  for (const event of events) view.apply(event);
  return { time, view };
};

describe('WebhooksView', () => {
  it('holds the data that a delivery needs', () => {
    const { view } = world(created);
    expect(view.find('wh_1')).toMatchObject({
      id: 'wh_1',
      workspaceId: 'o_1',
      url: 'https://a.example',
      active: true,
      signingKeyRefs: ['sec_1'],
    });
    expect(view.find('wh_2')).toBeUndefined();
  });

  it('follows changes, and forgets a deleted webhook', () => {
    const { view } = world(
      created,
      said('WebhookUpdated', { url: 'https://b.example', active: true, rules: DEFAULT_RULES }),
    );
    expect(view.find('wh_1')).toMatchObject({ url: 'https://b.example', active: true, rules: DEFAULT_RULES });
    view.apply(said('WebhookDisabled', { reason: '410' }));
    expect(view.find('wh_1')?.active).toBe(false);
    view.apply(said('WebhookUpdated', { url: 'https://b.example', active: true, rules: DEFAULT_RULES }));
    expect(view.find('wh_1')?.active).toBe(true);
    view.apply(said('WebhookDeleted', {}));
    expect(view.find('wh_1')).toBeUndefined();
    view.apply(said('WebhookUpdated', { url: 'https://c.example', active: true, rules: DEFAULT_RULES }));
    expect(view.find('wh_1')).toBeUndefined();
  });

  it('returns the valid keys, newest first, and the same object until one expires', () => {
    const { time, view } = world(created, regenerated('sec_2', 'sec_1', 5_000), regenerated('sec_3', 'sec_2', 6_000));
    const before = view.find('wh_1');
    expect(before?.signingKeyRefs).toEqual(['sec_3', 'sec_2', 'sec_1']);
    time.now = 4_999;
    expect(view.find('wh_1')).toBe(before);
    time.now = 5_000;
    expect(view.find('wh_1')?.signingKeyRefs).toEqual(['sec_3', 'sec_2']);
    time.now = 6_000;
    const after = view.find('wh_1');
    expect(after?.signingKeyRefs).toEqual(['sec_3']);
    expect(view.find('wh_1')).toBe(after);
  });

  it('ignores other events', () => {
    const { view } = world(created);
    const before = view.find('wh_1');
    view.apply(recorded('source-wh_1', { type: 'SourceDeleted', data: {} }));
    expect(view.find('wh_1')).toBe(before);
  });
});

describe('webhookDirectory', () => {
  it('returns keys in plain text, and the same object until the webhook changes', async () => {
    const vault = new InMemoryVault();
    await vault.put('sec_1', 'o_1', 'whsec_one');
    await vault.put('sec_2', 'o_1', 'whsec_two');
    const { time, view } = world(created, regenerated('sec_2', 'sec_1', 5_000));
    const directory = webhookDirectory(view, vault, { timeoutMs: 5_000 });
    const target = directory.find('wh_1');
    expect(target).toMatchObject({ id: 'wh_1', url: 'https://a.example', active: true, timeoutMs: 5_000 });
    expect(await target?.signingKeys()).toEqual(['whsec_two', 'whsec_one']);
    expect(directory.find('wh_1')).toBe(target);
    time.now = 5_000;
    expect(directory.find('wh_1')).not.toBe(target);
    expect(await directory.find('wh_1')?.signingKeys()).toEqual(['whsec_two']);
    expect(directory.find('wh_2')).toBeUndefined();
  });
});
