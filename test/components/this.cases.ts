import { type Area } from './case.js';

export default {
  area: 'this',
  title: 'What this holds',
  cases: [
    {
      component: 'this/methods.mjs',
      title: 'methods are bound to the component or app, and apps do not see its props',
      shows: ['this-methods', 'app-auth', 'component-methods', 'prop-app'],
      given: { props: { city: 'Lima' } },
      then: {
        emits: [
          ['a in Lima', 'b in Lima'],
          ['https://ledger.example/items', 'https://ledger.example', 5],
          ['$auth', 'base', 'props', 'url'],
          [true, 'undefined'],
        ],
      },
    },
    {
      component: 'this/prop-and-method.mjs',
      title: 'a prop wins over a method of its name',
      shows: ['prop-method-clash', 'warning-codes'],
      then: { emits: ['L'], warnings: ['prop_hides_method'] },
    },
    {
      component: 'this/fresh.mjs',
      title: 'each run gets a fresh object with copies of the values',
      shows: ['this-fresh'],
      given: { props: { list: ['a'], thing: { b: 1 } } },
      when: [{ event: 1 }, { event: 2 }],
      then: {
        emits: [
          [null, ['a'], { b: 1 }],
          [null, ['a'], { b: 1 }],
        ],
      },
    },
    {
      component: 'this/environment.mjs',
      title: 'the environment holds the id of the source and nothing else',
      shows: ['run-environment'],
      then: { emits: [[['PD_COMPONENT'], true]] },
    },
    {
      component: 'this/required-app/source.cjs',
      title: 'an app that CommonJS requires from an ES module has its methods and definitions',
      shows: ['prop-definition', 'this-methods', 'module-forms'],
      then: { emits: [['ledger app', 'main']] },
    },
    {
      component: 'this/unbound-bases.mjs',
      title: 'hooks and methods of a shared base are called with bind, call and apply',
      shows: ['this-methods', 'hook-emits'],
      given: { props: { city: 'Oslo' } },
      when: [{ hook: 'activate' }, { event: 'e' }],
      then: {
        emits: [['base activate', 'own, and base of Oslo'], ['base activate', 'own, and base of Oslo'], 'e'],
      },
    },
  ],
} satisfies Area;
