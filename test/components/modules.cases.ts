import { type Area } from './case.js';

const DAY = 86_400_000;
const january = (day: number): number => Date.UTC(2026, 0, 1) + (day - 1) * DAY;

export default {
  area: 'modules',
  title: 'Modules',
  cases: [
    {
      component: 'modules/es-module.mjs',
      title: 'an ES module with a default export',
      shows: ['module-forms', 'run-call'],
      when: [{ event: { a: [1, null] } }],
      then: { emits: [{ a: [1, null] }], warnings: [] },
    },
    {
      component: 'modules/common-js.cjs',
      title: 'module.exports, and require of a module of Node',
      shows: ['module-forms', 'built-in-modules'],
      when: [{ event: { a: 1 } }],
      then: { emits: [{ a: 1, eol: '\n' }] },
    },
    {
      component: 'modules/exports-default.cjs',
      title: 'exports.default of compiled code',
      shows: ['module-forms'],
      when: [{ event: 1 }],
      then: { emits: [1] },
    },
    {
      component: 'modules/typed.ts',
      title: 'TypeScript: types, enums, assertions, satisfies, and defineSource by import',
      shows: ['code-language', 'define-wrappers'],
      when: [{ event: { celsius: 9, station: 'north' } }],
      then: { emits: [{ station: 'north', level: 'cold' }] },
    },
    {
      component: 'modules/types-of-sluice.ts',
      title: 'the wrappers of sluice, by which an editor knows `this`',
      shows: ['code-language', 'define-wrappers'],
      when: [{ event: { method: 'POST', body: { amount: 26 } } }, { event: { method: 'POST', body: { amount: 2 } } }],
      given: { props: { smallest: 20 } },
      then: { emits: [{ amount: '26.00' }] },
    },
    {
      component: 'modules/global-wrapper.js',
      title: 'the wrappers as globals',
      shows: ['define-wrappers'],
      when: [{ event: 1 }],
      then: { emits: [['function', 'function', 'function', 1]] },
    },
    {
      component: 'modules/top-level-await.mjs',
      title: 'await at the top of the module',
      shows: ['top-level-await'],
      then: { emits: ['awaited'] },
    },
    {
      component: 'modules/module-state.mjs',
      title: 'variables of the module survive runs and end with the process; import.meta.url is fixed',
      shows: ['warm-process', 'import-meta-url'],
      when: [{ event: 1 }, { event: 2 }, { restart: true }, { event: 3 }],
      then: { emits: [1, 2, 1].map((runs) => ({ runs, here: 'file:///tmp/component.js' })) },
    },
    {
      component: 'modules/several-files/source.mjs',
      title: 'several files: imports with and without an ending, JSON, text, TypeScript, and import()',
      shows: ['code-files', 'relative-imports', 'code-language'],
      when: [{ event: { n: 2 } }],
      then: { emits: [{ double: 4, triple: 6, city: 'Lima', notice: 'Read me first.', shape: { sides: 2 } }] },
    },
    {
      component: 'modules/registry/app/sources/new-item/new-item.mjs',
      title: 'a source as registries publish it: app file, spread of a common base, hooks by bind',
      shows: [
        'relative-imports',
        'component-unknown-keys',
        'prop-definition',
        'this-methods',
        'dedupe-unique',
        'hook-one-db',
      ],
      when: [{ hook: 'deploy' }, { event: {} }, { event: {} }],
      then: {
        emits: [1, 2, 3, 4, 5, 6].map((id) => ({ id, title: `item ${id}` })),
        metadata: [1, 2, 3, 4, 5, 6].map((id) => ({ id, summary: `New: item ${id}`, ts: january(id) })),
        db: { account: 'main', deployed: true, next: 7 },
        described: { key: 'ledger-new-item', version: '0.0.3', dedupe: 'unique', hooks: ['deploy'] },
      },
    },
    {
      component: 'modules/exports-function.cjs',
      title: 'a function instead of an object is refused',
      shows: ['module-forms'],
      then: { refused: { code: 'component.invalid', text: /must export an object.*function/ } },
    },
    {
      component: 'modules/missing-file.mjs',
      title: 'an import of a missing file is refused, naming both files',
      shows: ['relative-imports'],
      then: { refused: { code: 'component.invalid', text: /missing-file\.mjs.*not-there\.mjs/ } },
    },
    {
      component: 'modules/built-path.mjs',
      title: 'an import of a path from parts is refused, with what to write',
      shows: ['refused-imports'],
      then: { refused: { code: 'component.invalid', text: /built-path\.mjs|path/ } },
    },
    {
      component: 'modules/throws-at-top.mjs',
      title: 'a module that throws while it is loaded is refused with its error and line',
      shows: ['evaluate'],
      then: { refused: { code: 'component.invalid', text: /SyntaxError.*throws-at-top\.mjs:1:/ } },
    },
  ],
} satisfies Area;
