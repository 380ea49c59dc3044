import { describe, expect, it } from '@jest/globals';
import { given } from '#libs/kernel/testing/decider-specification.js';
import { type ComponentSaved } from '../published.js';
import { componentDecider } from './component.js';
import { codeHashOf, componentIdOf } from './component-identity.js';
import { compareVersions } from './version-order.js';
import { savedData } from '../testing/saved-data.js';

const saved: ComponentSaved = { type: 'ComponentSaved', data: savedData({ savedAt: 1_000 }) };

describe('component', () => {
  it('is saved once', () => {
    given(componentDecider).when({ type: 'SaveComponentCode', data: saved.data }).then(saved);
  });

  it('is only refreshed when the same code comes again', () => {
    given(componentDecider, [saved])
      .when({ type: 'SaveComponentCode', data: savedData({ savedAt: 2_000, url: 'https://example.com/a.mjs' }) })
      .then({ type: 'ComponentSavedAgain', data: { url: 'https://example.com/a.mjs', savedAt: 2_000 } });
  });

  it('keeps its warnings when the same code comes again, and has none when its event has none', () => {
    const warnings = [{ code: 'misspelt_key', message: 'dedupe is meant', path: 'dedup' }];
    const again = { type: 'SaveComponentCode', data: savedData({ savedAt: 2_000 }) } as const;
    const warningsAfter = (first: ComponentSaved, expected: unknown): void =>
      given(componentDecider, [first])
        .when(again)
        .thenState((state) => {
          expect(state.status === 'saved' ? state.component.warnings : state).toEqual(expected);
        });
    warningsAfter({ type: 'ComponentSaved', data: savedData({ warnings }) }, warnings);
    warningsAfter(saved, undefined);
  });

  it('is deleted once, with the packages that it used, and saved anew by the same code', () => {
    const remove = { type: 'DeleteComponentCode', now: 2_000 } as const;
    given(componentDecider).when(remove).thenNothingHappened();
    given(componentDecider, [saved])
      .when(remove)
      .then({ type: 'ComponentDeleted', data: { deletedAt: 2_000 } });
    const uses = ['p@1.0.0'];
    const packages = { lockHash: 'l', partsHash: 'p', count: 1, bytes: 1, ms: 1, cached: false, uses, imported: [] };
    given(componentDecider, [{ type: 'ComponentSaved', data: savedData({ packages }) }])
      .when(remove)
      .then({ type: 'ComponentDeleted', data: { uses, deletedAt: 2_000 } });
    const gone = [saved, { type: 'ComponentDeleted', data: { deletedAt: 2_000 } }] as const;
    given(componentDecider, gone).when(remove).thenNothingHappened();
    given(componentDecider, gone).when({ type: 'SaveComponentCode', data: saved.data }).then(saved);
  });

  it('is refreshed once a second at most', () => {
    given(componentDecider, [saved])
      .when({ type: 'SaveComponentCode', data: savedData({ savedAt: 1_999 }) })
      .thenNothingHappened();
  });

  it('keeps the saved data, the creation time, and a URL that is not given again', () => {
    given(componentDecider, [
      { type: 'ComponentSaved', data: savedData({ savedAt: 1_000, url: 'https://a.example/x.js' }) },
    ])
      .when({ type: 'SaveComponentCode', data: savedData({ savedAt: 2_000, url: null }) })
      .thenState((state) => {
        expect(state).toMatchObject({
          status: 'saved',
          component: { createdAt: 1_000, updatedAt: 2_000, url: 'https://a.example/x.js', bundleHash: 'bundle-hash' },
        });
      });
  });
});

describe('identity of a component', () => {
  it('hashes the exact UTF-8 code', () => {
    expect(codeHashOf('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(codeHashOf('é')).toBe('4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c');
  });

  it('depends on workspace, code and files, but not on the order of the files', () => {
    const id = componentIdOf('o_1', 'code', { a: '1', b: '2' });
    expect(id).toMatch(/^sc_[0-9a-z]{18}$/);
    expect(componentIdOf('o_1', 'code', { b: '2', a: '1' })).toBe(id);
    expect(componentIdOf('o_2', 'code', { a: '1', b: '2' })).not.toBe(id);
    expect(componentIdOf('o_1', 'code', { a: '1', b: '3' })).not.toBe(id);
    expect(componentIdOf('o_1', 'code')).not.toBe(id);
    expect(componentIdOf('o_1', 'code', {})).toBe(componentIdOf('o_1', 'code'));
  });
});

describe('order of versions', () => {
  it.each([
    ['0.10.0', '0.9.9'],
    ['1.0.0', '1.0.0-rc.1'],
    ['1.0.0-rc.10', '1.0.0-rc.9'],
    ['1.0.0-rc.1', '1.0.0-1'],
    ['1.0.0-rc.1', '1.0.0-rc'],
    ['0.0.1', 'latest'],
    ['v2.0.0', '1.9.9'],
  ])('%s is newer than %s', (newer, older) => {
    expect(compareVersions(newer, older)).toBeGreaterThan(0);
    expect(compareVersions(older, newer)).toBeLessThan(0);
  });

  it.each([
    ['1.0.0', '1.0.0'],
    ['1.0.0+a', '1.0.0+b'],
    ['spring', 'autumn'],
    ['', 'x'],
  ])('%p and %p are equal', (a, b) => {
    expect(compareVersions(a, b)).toBe(0);
  });
});
