import { describe, expect, it } from '@jest/globals';
import { type BuildStatus, type RegistrySource } from '#libs/components/index.js';
import { registryLines } from './registry-lines.js';

const T0 = Date.UTC(2026, 0, 1);
const source = (over: Partial<RegistrySource> = {}): RegistrySource => ({
  name: 'shop',
  from: 'npm:@acme/shop',
  kind: 'npm',
  revision: '1.2.3',
  license: 'MIT',
  updatedAt: T0,
  ...over,
});
const status = (over: Partial<BuildStatus> = {}): BuildStatus => ({
  startedAt: T0 + 1_000,
  updatedAt: T0 + 9_000,
  endedAt: T0 + 9_000,
  sources: { shop: { files: 3, done: 3, failed: 0 } },
  building: [],
  failed: [],
  ...over,
});
const building = status({
  endedAt: null,
  sources: { shop: { files: 5, done: 2, failed: 1 }, '': { files: 1, done: 1, failed: 1 } },
  building: ['shop/a.mjs', 'other/b.mjs'],
  failed: [
    { path: 'shop/c.mjs', reason: 'it\nthrows' },
    { path: 'd.mjs', reason: 'no key' },
  ],
});
const HEAD = 'shop                      npm:@acme/shop (1.2.3)  licence: MIT  2026-01-01T00:00:00.000Z  ';

// docs/reference/component-model.md#registry-sync
describe('the list of the registry', () => {
  it('shows what is built', () => {
    expect(registryLines([source()], status(), T0)).toEqual([`${HEAD}3 of 3 components built`]);
  });

  it('shows what is built now, what failed with the reason, and files without a source', () => {
    expect(registryLines([source()], building, T0 + 10_000)).toEqual([
      `${HEAD}1 of 5 components built, 1 failed`,
      '  building  shop/a.mjs',
      '  failed    shop/c.mjs: it throws',
      '.                         put there by hand  0 of 1 component built, 1 failed',
      '  failed    d.mjs: no key',
    ]);
  });

  it('says when the server that built has stopped', () => {
    const [line] = registryLines([source()], building, T0 + 60_000);
    expect(line).toBe(
      `${HEAD}1 of 5 components built, 1 failed; the server that built them has stopped at 2026-01-01T00:00:09.000Z`,
    );
  });

  it.each<[string, BuildStatus | undefined]>([
    ['no server has looked', undefined],
    ['it was copied after a server looked', status({ startedAt: T0 - 1 })],
  ])('says that a source is not built when %s', (_why, given) => {
    const { name, ...facts } = source({ license: 'none stated' });
    expect(registryLines([{ name, ...facts }], given, T0)).toEqual([
      `${HEAD.replace('MIT', 'none stated')}not built yet: a running server begins within seconds`,
    ]);
  });

  it('counts failures beyond those that are kept', () => {
    const many = status({ sources: { shop: { files: 9, done: 9, failed: 9 } }, failed: building.failed });
    expect(registryLines([source()], many, T0).at(-1)).toBe('  failed    8 more');
  });
});
