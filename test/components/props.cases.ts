import { type Area, type Case } from './case.js';

const GIVEN = {
  text: 'a',
  texts: ['a', 'b'],
  whole: 3,
  wholes: [1, 2],
  flag: true,
  flags: [true, false],
  thing: { a: { b: 1 } },
  anything: [1, 'a', null],
};

const refusedValue = (
  title: string,
  props: Record<string, unknown>,
  text: RegExp,
  code = 'source.invalid_prop',
): Case => ({
  component: 'props/every-type.mjs',
  title,
  shows: [code === 'source.missing_prop' ? 'prop-required' : 'prop-value-types'],
  given: { props: { ...GIVEN, ...props } },
  then: { refused: { code, text } },
});

export default {
  area: 'props',
  title: 'Props',
  cases: [
    {
      component: 'props/every-type.mjs',
      title: 'values of every type reach this, an optional one is undefined, an alert is not there',
      shows: ['this-props', 'prop-value-types', 'prop-default', 'prop-alert'],
      given: { props: GIVEN },
      then: { emits: [{ ...GIVEN, guessed: 5 }, ['undefined', false]] },
    },
    {
      component: 'props/every-type.mjs',
      title: 'values are coerced from text',
      shows: ['prop-value-types'],
      given: {
        props: {
          text: 12,
          texts: '["a","b"]',
          whole: '3',
          wholes: ['1', 2],
          flag: 'true',
          flags: ['true', false],
          thing: '{"a":{"b":1}}',
          anything: [1, 'a', null],
          guessed: '7',
        },
      },
      then: { emits: [{ ...GIVEN, text: '12', guessed: 7 }, ['undefined', false]] },
    },
    refusedValue('a value below min is refused', { whole: 0 }, /whole.*1/),
    refusedValue('a value above max is refused', { whole: '11' }, /whole.*10/),
    refusedValue('a fraction is no integer', { whole: 1.5 }, /whole/),
    refusedValue('a word is no boolean', { flag: 'yes' }, /flag/),
    refusedValue('a text is no object', { thing: 'a' }, /thing/),
    refusedValue('a wrong element of a list is refused', { wholes: [1, 'x'] }, /wholes/),
    refusedValue('a missing value is refused by name', { texts: null }, /texts/, 'source.missing_prop'),
    {
      ...refusedValue(
        'a text of more than 64 KB is refused with the numbers',
        { text: 'x'.repeat(65_537) },
        /65537.*65536|65536.*65537/,
      ),
      shows: ['prop-value-size'],
    },
    {
      component: 'props/every-type.mjs',
      title: 'values of unknown props and of alerts are dropped; a near miss is a warning',
      shows: ['prop-unknown-given'],
      given: { props: { ...GIVEN, note: 'x', unsett: 'x', elsewhere: 1 } },
      then: { emits: [{ ...GIVEN, guessed: 5 }, ['undefined', false]], warnings: ['unknown_prop'] },
    },
    {
      component: 'props/shorthand.mjs',
      title: 'a bare text is the type',
      shows: ['prop-shorthand', 'this-props'],
      given: { props: { city: 'Lima', timer: { intervalSeconds: 60 } } },
      then: { emits: [{ http: ['endpoint', 'respond'], db: ['get', 'set'], city: 'Lima' }] },
    },
    {
      component: 'props/apphook.mjs',
      title: 'an event of an app comes as it was sent, and its apphook is not on this',
      shows: ['apphooks', 'apphook-event', 'this-props'],
      when: [{ event: { text: 'hi', by: ['a'] } }],
      then: {
        emits: [{ text: 'HI', event: { text: 'hi', by: ['a'] }, hook: 'undefined' }],
        described: {
          configurableProps: [
            { name: 'chat', type: 'app', app: 'chat' },
            { name: 'hook', type: '$.interface.apphook', appProp: 'chat', eventNames: ['message', 'mention'] },
          ],
        },
        warnings: ['no_account'],
      },
    },
    {
      component: 'props/apphook-without-app.mjs',
      title: 'an apphook that names no app is a warning',
      shows: ['apphooks'],
      then: { emits: [{}], warnings: ['silent_interface'] },
    },
    {
      component: 'props/options.mjs',
      title: 'options, and values chosen with their label, with and without withLabel',
      shows: ['prop-options', 'prop-label', 'prop-entry'],
      given: {
        props: {
          size: 'M',
          colour: { __lv: { label: 'Red', value: '#f00' } },
          place: { __lv: { label: 'Lima, Peru', value: 'LIM' } },
          places: { __lv: [{ label: 'Oslo', value: 'OSL' }] },
          tags: {
            __lv: [
              { label: 'One', value: '1' },
              { label: 'Two', value: '2' },
            ],
          },
        },
      },
      then: {
        emits: [
          {
            size: 'M',
            colour: '#f00',
            place: { label: 'Lima, Peru', value: 'LIM' },
            places: [{ label: 'Oslo', value: 'OSL' }],
            tags: ['1', '2'],
          },
        ],
        described: {
          configurableProps: [
            { name: 'http' },
            { options: ['S', 'M'] },
            {
              options: [
                { label: 'Red', value: '#f00' },
                { label: '3', value: 3 },
              ],
            },
            { withLabel: true },
            { withLabel: true },
            { name: 'tags' },
          ],
        },
      },
    },
    {
      component: 'props/options.mjs',
      title: 'a value outside the options is accepted with a warning',
      shows: ['prop-options'],
      given: { props: { size: 'XL', colour: '#f00', place: 'LIM' } },
      then: { emits: [{ size: 'XL', colour: '#f00', place: 'LIM' }], warnings: ['not_an_option'] },
    },
    {
      component: 'props/secret.mjs',
      title: 'a secret is in clear on this',
      shows: ['prop-secret', 'this-props'],
      given: { props: { password: 'open sesame' } },
      then: { emits: [11] },
    },
    {
      component: 'props/secret.mjs',
      title: 'the mask without a stored secret is refused',
      shows: ['prop-secret'],
      given: { props: { password: '********' } },
      then: { refused: { code: 'source.invalid_prop', text: /password/ } },
    },
    {
      component: 'props/not-filled-in.mjs',
      title: 'hidden, disabled and optional props need no value; falsy defaults count',
      shows: ['prop-required', 'prop-default', 'prop-value-order'],
      then: { emits: [[true, true, true], { falsy: false, empty: '', zero: 0 }] },
    },
    {
      component: 'props/not-filled-in.mjs',
      title: 'a given value counts before the default',
      shows: ['prop-value-order'],
      given: { props: { falsy: true, empty: 'full', zero: 1 } },
      then: { emits: [[true, true, true], { falsy: true, empty: 'full', zero: 1 }] },
    },
    {
      component: 'props/definitions.mjs',
      title: 'definitions of an app, overridden, and through a second definition',
      shows: ['prop-definition', 'prop-entry'],
      then: {
        emits: [['/inbox', 'main']],
        described: {
          configurableProps: [
            { name: 'app', type: 'app', app: 'ledger' },
            { name: 'http' },
            { name: 'folder', label: 'Start folder', description: 'Where to look', optional: true, default: '/inbox' },
            { name: 'repository', label: 'Repository of the app', description: 'Of the base', default: 'main' },
          ],
        },
      },
    },
    {
      component: 'props/unknown-definition.mjs',
      title: 'a definition that the app lacks is refused, with those that exist',
      shows: ['prop-definition'],
      then: { refused: { code: 'component.invalid', text: /file.*folder/ } },
    },
    {
      component: 'props/unknown-interface.mjs',
      title: 'an unknown interface is refused',
      shows: ['prop-types'],
      then: { refused: { code: 'component.invalid', text: /\$\.interface\.email.*not supported|not supported/ } },
    },
    {
      component: 'props/unknown-word.mjs',
      title: 'an unknown word as type counts as any, with a warning',
      shows: ['prop-types'],
      given: { props: { shape: { corners: 5 } } },
      then: { emits: [{ corners: 5 }], warnings: ['unknown_prop_type'] },
    },
    {
      component: 'props/array-of-objects.mjs',
      title: 'an array form that does not exist is refused',
      shows: ['prop-types'],
      then: { refused: { code: 'component.invalid', text: /object\[\]/ } },
    },
    {
      component: 'props/reserved.mjs',
      title: 'a prop called $emit is refused',
      shows: ['prop-reserved-names'],
      then: { refused: { code: 'component.invalid', text: /\$emit/ } },
    },
    {
      component: 'props/empty-range.mjs',
      title: 'a required integer whose min is above its max is refused',
      shows: ['prop-range'],
      then: { refused: { code: 'component.invalid', text: /min/ } },
    },
    {
      component: 'props/form-texts.mjs',
      title: 'the entries hold what a form needs, and nothing unknown',
      shows: ['prop-entry', 'prop-alert', 'prop-types'],
      then: {
        described: {
          configurableProps: [
            { name: 'http', type: '$.interface.http', label: 'Endpoint', customResponse: true },
            { name: 'query', readOnly: true, optional: true, disabled: true, hidden: true },
            { name: 'notice', type: 'alert', alertType: 'error', content: 'Read this' },
            { name: 'channel', type: '$.discord.channel', optional: true },
            { name: 'base', type: '$.airtable.baseId', appProp: 'airtable' },
          ],
        },
      },
    },
    {
      component: 'props/timers.mjs',
      title: 'timers: default, static, and what this holds',
      shows: ['prop-timer-value', 'this-props', 'shim-exports'],
      then: {
        emits: [
          [
            { type: '$.interface.timer', intervalSeconds: 900, interval_seconds: 900 },
            { type: '$.interface.timer', cron: '0 3 * * *' },
          ],
        ],
      },
    },
    {
      component: 'props/timers.mjs',
      title: 'a given cron replaces the default',
      shows: ['prop-timer-value'],
      given: { props: { poll: { cron: '*/5 * * * *', timezone: 'Europe/Oslo' } } },
      then: {
        emits: [
          [
            { type: '$.interface.timer', cron: '*/5 * * * *' },
            { type: '$.interface.timer', cron: '0 3 * * *' },
          ],
        ],
      },
    },
    ...[
      ['an interval below 15 s is refused', { intervalSeconds: 14 }, /15/],
      ['a wrong cron pattern is refused', { cron: '61 * * * *' }, /cron/],
      ['a wrong time zone is refused', { cron: '0 3 * * *', timezone: 'Mars/Base' }, /Mars\/Base/],
    ].map(([title, poll, text]) => ({
      component: 'props/timers.mjs',
      title: title as string,
      shows: ['prop-timer-limits'],
      given: { props: { poll } },
      then: { refused: { code: 'source.invalid_prop', text: text as RegExp } },
    })),
  ],
} satisfies Area;
