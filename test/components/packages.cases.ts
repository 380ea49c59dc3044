import { type Area } from './case.js';

export default {
  area: 'packages',
  title: 'npm packages',
  cases: [
    {
      component: 'packages/large-sdk.mjs',
      title: 'an SDK of 250 clients in 500 files',
      shows: ['npm-packages'],
      when: [{ event: { service: 's249' } }, { event: { service: 's0' } }],
      then: {
        emits: [
          { service: 's249', region: 'north', type: 'structure', n: 249, op: 0 },
          { service: 's0', region: 'north', type: 'structure', n: 0, op: 0 },
        ],
        errors: [],
      },
    },
    {
      component: 'packages/ranges.mjs',
      title: 'two versions of one package, with ~ and ^, and a file within one',
      shows: ['npm-packages'],
      then: { emits: [['one', 'two', 'of two', 'deep in two']], errors: [] },
    },
    {
      component: 'packages/dual.mjs',
      title: 'a package with two builds, imported',
      shows: ['npm-packages'],
      then: { emits: [{ kind: 'module', said: 'imported' }], errors: [] },
    },
    {
      component: 'packages/dual.cjs',
      title: 'a package with two builds, required',
      shows: ['npm-packages'],
      then: { emits: [{ kind: 'common', said: 'required' }], errors: [] },
    },
    {
      component: 'packages/subpath.ts',
      title: 'a sub-path by exports from TypeScript, and a package that a package does not declare',
      shows: ['npm-packages'],
      when: [{ event: { n: 7 } }],
      then: { emits: [{ made: { feature: 7 }, undeclared: 'found' }], errors: [] },
    },
    {
      component: 'packages/events.mjs',
      title: 'a subclass of a class of a package, and a file that a package imports while it runs',
      shows: ['npm-packages'],
      when: [{ event: { items: ['a', 'b'] } }],
      then: { emits: [{ item: 'a', seen: 1 }, { item: 'b', seen: 2 }, 'lazy part'], errors: [] },
    },
  ],
} satisfies Area;
