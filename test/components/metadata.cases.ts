import { type Area } from './case.js';

export default {
  area: 'metadata',
  title: 'What a component says of itself',
  cases: [
    {
      component: 'metadata/plain.mjs',
      title: 'key, name, version with {{ts}}, description, annotations, dedupe, hooks in order, methods',
      shows: [
        ...['metadata-described', 'component-kind', 'component-key', 'component-version', 'component-annotations'],
        ...['component-dedupe', 'component-hooks', 'component-methods', 'component-unknown-keys'],
      ],
      then: {
        described: {
          kind: 'source',
          key: 'weather-report',
          name: 'Weather Report',
          version: '1.0.1767225600000',
          description: 'Emit new event for each report.',
          annotations: { readOnlyHint: true, title: 'Weather' },
          dedupe: 'last',
          hooks: ['deploy', 'activate', 'deactivate'],
          methods: ['b', 'a'],
        },
        warnings: [],
      },
    },
    {
      component: 'metadata/no-run.mjs',
      title: 'without run each event is emitted unchanged; without version it is empty',
      shows: ['run-missing', 'component-run', 'component-version'],
      when: [{ event: { a: 1 } }, { event: null }],
      then: { emits: [{ a: 1 }, null], described: { version: '', hasRun: false } },
    },
    {
      component: 'metadata/no-run-no-interface.mjs',
      title: 'without run and interface it is refused',
      shows: ['component-run'],
      then: { refused: { code: 'component.invalid', text: /run/ } },
    },
    {
      component: 'metadata/named-by-key.mjs',
      title: 'without a name it has that of its key; a number as version becomes a text',
      shows: ['component-name', 'component-version'],
      then: { described: { name: 'tide-table', version: '7' } },
    },
    {
      component: 'metadata/an-action.mjs',
      title: 'an action is described like a source',
      shows: ['component-action', 'component-kind'],
      given: { props: { title: 't' } },
      when: [],
      then: {
        described: {
          kind: 'action',
          configurableProps: [
            { name: 'title', type: 'string' },
            { name: 'count', type: 'integer', optional: true },
          ],
        },
      },
    },
    {
      component: 'metadata/action-with-timer.mjs',
      title: 'an action with an interface is refused',
      shows: ['prop-types'],
      then: { refused: { code: 'component.invalid', text: /timer/ } },
    },
    {
      component: 'metadata/misspelt.mjs',
      title: 'what is probably a slip is a warning',
      shows: ['warnings', 'near-misses', 'warning-codes', 'prop-method-clash'],
      given: { props: { size: 'L' } },
      then: {
        warnings: ['misspelt_key', 'misspelt_key', 'ignored_key', 'prop_hides_method', 'misspelt_key'],
      },
    },
    {
      component: 'metadata/wrong-dedupe.mjs',
      title: 'an unknown strategy is refused, with those that exist',
      shows: ['component-dedupe'],
      then: {
        refused: { code: 'component.invalid', text: /newest.*unique.*greatest.*last|unique.*greatest.*last.*newest/ },
      },
    },
    {
      component: 'metadata/wrong-hook.mjs',
      title: 'a hook that is no function is refused',
      shows: ['component-hooks'],
      then: { refused: { code: 'component.invalid', text: /hooks\.deploy/ } },
    },
    {
      component: 'metadata/only-listens.mjs',
      title: 'run without an interface is a warning, and gets what other sources emit without an envelope',
      shows: ['no-interface', 'event-from-emitter'],
      when: [{ event: ['emitted', 'elsewhere'] }],
      then: { emits: [['emitted', 'elsewhere']], warnings: ['no_interface'] },
    },
  ],
} satisfies Area;
