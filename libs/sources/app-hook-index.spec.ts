import { describe, expect, it } from '@jest/globals';
import { AppHookIndex } from './app-hook-index.js';
import { type AppHook } from './published.js';
import { definition } from './testing/definitions.js';

const hook = (over: Partial<AppHook> = {}): AppHook => ({
  kind: 'apphook',
  prop: 'hook',
  appProp: 'chat',
  app: 'chat',
  eventNames: ['message'],
  ...over,
});
const withHooks = (apphooks: readonly AppHook[], accounts: Readonly<Record<string, string>> = {}) =>
  definition({
    props: [
      ...Object.entries(accounts).map(
        ([prop, authProvisionId]) => ({ kind: 'app', prop, value: { authProvisionId } }) as const,
      ),
      ...apphooks,
    ],
  });
const ids = (found: readonly { readonly sourceId: string }[]): readonly string[] =>
  found.map(({ sourceId }) => sourceId);

describe('AppHookIndex', () => {
  it('finds sources by workspace, app and event name, exactly', () => {
    const index = new AppHookIndex();
    index.set('dc_named', 'o_1', withHooks([hook()]));
    index.set('dc_every', 'o_1', withHooks([hook({ eventNames: null })]));
    index.set('dc_none', 'o_1', withHooks([hook({ eventNames: [] })]));
    index.set('dc_app', 'o_1', withHooks([hook({ app: 'other' })]));
    index.set('dc_foreign', 'o_2', withHooks([hook()]));
    index.set('dc_plain', 'o_1', definition());
    expect(ids(index.matching('o_1', 'chat', 'message'))).toEqual(['dc_named', 'dc_every']);
    expect(ids(index.matching('o_1', 'chat', 'Message'))).toEqual(['dc_every']);
    expect(ids(index.matching('o_2', 'chat', 'message'))).toEqual(['dc_foreign']);
    expect(index.matching('o_3', 'chat', 'message')).toEqual([]);
    expect(index.matching('o_1', '__proto__', 'constructor')).toEqual([]);
  });

  it.each([
    ['a","b', 'c'],
    ['a', 'b","c'],
    ['a b', 'c'],
    ['', 'null'],
  ])('confuses no slug %j with a part of the name %j', (app, name) => {
    const index = new AppHookIndex();
    index.set('dc_1', 'o_1', withHooks([hook({ app: 'a', eventNames: ['b', 'c', 'b c'] })]));
    expect(index.matching('o_1', app, name)).toEqual([]);
  });

  it('compares the account with that of the app prop, and gives a source once', () => {
    const index = new AppHookIndex();
    const two = [hook({ prop: 'first' }), hook({ prop: 'second', appProp: 'other', eventNames: null })];
    index.set('dc_two', 'o_1', withHooks(two, { chat: 'apn_1', other: 'apn_2' }));
    index.set('dc_without', 'o_1', withHooks([hook()]));
    expect(index.matching('o_1', 'chat', 'message')).toEqual([
      { sourceId: 'dc_two', prop: 'first' },
      { sourceId: 'dc_without', prop: 'hook' },
    ]);
    expect(index.matching('o_1', 'chat', 'message', 'apn_1')).toEqual([{ sourceId: 'dc_two', prop: 'first' }]);
    expect(index.matching('o_1', 'chat', 'message', 'apn_2')).toEqual([{ sourceId: 'dc_two', prop: 'second' }]);
    expect(index.matching('o_1', 'chat', 'message', 'apn_3')).toEqual([]);
  });

  it('replaces what a source took, and forgets it', () => {
    const index = new AppHookIndex();
    index.set('dc_1', 'o_1', withHooks([hook({ eventNames: ['a', 'b'] })]));
    index.set('dc_1', 'o_1', withHooks([hook({ eventNames: ['b', 'c'] })]));
    expect(['a', 'b', 'c'].map((name) => index.matching('o_1', 'chat', name).length)).toEqual([0, 1, 1]);
    index.set('dc_1', 'o_1', undefined);
    expect(['a', 'b', 'c'].map((name) => index.matching('o_1', 'chat', name).length)).toEqual([0, 0, 0]);
  });
});
