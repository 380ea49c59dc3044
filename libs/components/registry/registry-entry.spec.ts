import { describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { given } from '#libs/kernel/testing/decider-specification.js';
import { projecting } from '#libs/kernel/testing/projection-specification.js';
import { history } from '#libs/kernel/testing/recorded.js';
import { registryDecider, registryEntryId, type RegistryEntry, type RegistryEvent } from './registry-entry.js';
import { registryProjection } from './registry.projection.js';
import { foundIn, wordsOf } from './search-words.js';

const entry = (over: Partial<RegistryEntry> = {}): RegistryEntry => ({
  key: 'shop-new-order',
  componentId: 'sc_1',
  kind: 'source',
  name: 'New Order',
  description: 'Emits each paid order of the shop',
  version: '0.0.1',
  app: 'shop',
  path: 'shop/new-order.mjs',
  ...over,
});
const list = (over: Partial<RegistryEntry> = {}) => ({ type: 'ListRegistryEntry', entry: entry(over) }) as const;
const listed = (over: Partial<RegistryEntry> = {}): RegistryEvent => ({
  type: 'RegistryEntryListed',
  data: entry(over),
});
const removed: RegistryEvent = { type: 'RegistryEntryRemoved', data: { key: 'shop-new-order' } };

describe('an entry of the registry', () => {
  it('is listed', () => given(registryDecider).when(list()).then(listed()));

  it('listed again unchanged is a no-op', () => given(registryDecider, [listed()]).when(list()).thenNothingHappened());

  it.each([{ componentId: 'sc_2' }, { path: 'elsewhere.mjs' }])('leads to what changed: %j', (over) =>
    given(registryDecider, [listed()]).when(list(over)).then(listed(over)),
  );

  it('is removed once', () => {
    given(registryDecider, [listed()]).when({ type: 'RemoveRegistryEntry' }).then(removed);
    given(registryDecider, [listed(), removed]).when({ type: 'RemoveRegistryEntry' }).thenNothingHappened();
  });

  it('is listed anew after its removal', () => given(registryDecider, [listed(), removed]).when(list()).then(listed()));

  it('is in the read model until it is removed', () => {
    const id = registryEntryId('shop-new-order');
    const stream = `registry-${id}`;
    projecting(registryProjection)
      .given(history([stream, listed()], [stream, listed({ componentId: 'sc_2' })]))
      .numberOfTimes(2)
      .thenMatches(id, { key: 'shop-new-order', entry: entry({ componentId: 'sc_2' }) });
    projecting(registryProjection)
      .given(history([stream, listed()], [stream, removed]))
      .then(id, undefined);
  });

  it.each(['RegistryEntryListed', 'RegistryEntryRemoved'] as const)('%s still folds', async (type) => {
    const file = new URL(`../../../test/fixtures/events/${type}.v1.json`, import.meta.url);
    const { data } = JSON.parse(await readFile(file, 'utf8')) as { data: RegistryEntry };
    const event = { type, data } as RegistryEvent;
    const before = registryDecider.evolve(registryDecider.initialState(), listed());
    const after = registryDecider.evolve(before, event);
    if (type === 'RegistryEntryListed')
      expect(after).toMatchObject({ status: 'listed', entry: { key: 'rss-new-item', componentId: 'sc_golden' } });
    else expect(after).toEqual({ status: 'none' });
  });
});

describe('a search in the registry', () => {
  const entries = [
    entry(),
    entry({ key: 'shop-create-order', kind: 'action', name: 'Create Order', description: null }),
    entry({ key: 'rss-new-item', name: 'New Item', description: 'Emits each item of a feed', app: 'rss' }),
  ];
  const search = (query: string, over: object = {}) =>
    foundIn(entries, { words: wordsOf(query), app: undefined, threshold: 0, ...over });

  // docs/reference/rest-api.md#registry-search
  it('finds words in key, name, description and app, the best match first', () => {
    expect(search('New order!')).toEqual({
      sources: ['shop-new-order', 'rss-new-item'],
      actions: ['shop-create-order'],
    });
    expect(search('FEED')).toEqual({ sources: ['rss-new-item'], actions: [] });
    expect(search('nothing alike')).toEqual({ sources: [], actions: [] });
  });

  // docs/reference/rest-api.md#registry-search
  it('keeps to the threshold and to an app', () => {
    expect(search('new order', { threshold: 1 })).toEqual({ sources: ['shop-new-order'], actions: [] });
    expect(search('new', { app: 'rss' })).toEqual({ sources: ['rss-new-item'], actions: [] });
  });

  it('finds everything without words, and 100 of each kind at most', () => {
    expect(search('').sources).toEqual(['rss-new-item', 'shop-new-order']);
    const many = Array.from({ length: 150 }, (_, i) => entry({ key: `k-${i}` }));
    expect(foundIn(many, { words: [], app: undefined, threshold: 0 }).sources).toHaveLength(100);
  });
});
