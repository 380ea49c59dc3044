import { type Area, type EmitMetadata } from './case.js';

type Emit = readonly [unknown, (EmitMetadata & { name?: string })?];
const emits = (...list: Emit[]): { event: { emits: Emit[] } } => ({ event: { emits: list } });
const ids = (first: number, count: number): Emit[] =>
  Array.from({ length: count }, (_, n) => [first + n, { id: first + n }] as const);

export default {
  area: 'emitting',
  title: 'Emitting and dedupe',
  cases: [
    {
      component: 'emitting/payloads.mjs',
      title: 'any JSON, copied at the call; undefined becomes null; ids, summaries and ts are coerced',
      shows: ['emit-call', 'emit-payload', 'emit-metadata', 'emit-order'],
      then: {
        emits: [
          ...['number', 'date', { n: 1 }, 'object', null, '1970-01-01T00:00:00.000Z', { euros: 12.5 }],
          ...[{ type: 'Buffer', data: [97, 98] }, [null, 'x', null], 'text'],
        ].map((value) => (value === 'object' ? 'function' : value)),
        metadata: [
          { id: 7, summary: '12', ts: 1_767_225_600_000 },
          { ts: 1_767_225_600_001 },
          ...[{}, {}, {}, {}, {}, {}, {}],
          { id: '{"a":1}', summary: '{"b":2}' },
        ],
      },
    },
    {
      component: 'emitting/one-of-each.mjs',
      title: 'emits with ts leave oldest first, those without count as now, equal ones keep their order',
      shows: ['emit-order', 'emit-when'],
      when: [emits(['now'], ['b', { ts: 2_000 }], ['a', { ts: 1_000 }], ['b2', { ts: 2_000 }])],
      then: { emits: ['a', 'b', 'b2', 'now'] },
    },
    {
      component: 'emitting/one-of-each.mjs',
      title: 'without any ts the order of the calls stays; name is the channel',
      shows: ['emit-order', 'emit-metadata', 'emit-metadata-kept'],
      when: [emits(['b', { name: 'orders', id: 'x' }], ['a', { summary: 'An a' }])],
      then: { emits: ['b', 'a'], metadata: [{ channel: 'orders', id: 'x' }, { summary: 'An a' }] },
    },
    {
      component: 'emitting/refused.mjs',
      title: 'what cannot be written as JSON, nests too deep, or has a wrong delivery_ts or channel throws',
      shows: ['emit-payload', 'emit-metadata', 'emit-channels'],
      then: { emits: [[/circular/i, /BigInt/, /256/, /delivery_ts/, /\$errors/]] },
    },
    {
      component: 'emitting/too-much.mjs',
      title: 'beyond 6 MB a run throws; what was emitted before stays',
      shows: ['run-payload-limits', 'error-platform-codes'],
      then: { errors: [{ code: 'FunctionPayloadLimitExceeded' }], metadata: [{}, {}, {}, {}, {}] },
    },
    {
      component: 'emitting/before-a-throw.mjs',
      title: 'emits and db changes before a throw stay',
      shows: ['emit-when', 'db-durable', 'error-event'],
      then: { emits: ['kept'], db: { kept: true }, errors: [{ name: 'Error', message: 'after the emit' }] },
    },
    {
      component: 'emitting/too-late.mjs',
      title: 'an emit after the end of its run is dropped',
      shows: ['run-late-words'],
      when: [{ event: {} }, { event: { wait: true } }],
      then: { emits: ['in time'], errors: [] },
    },
    {
      component: 'emitting/unique.mjs',
      title: 'unique: once per id and channel, as text, also within a batch and after a restart',
      shows: ['dedupe-unique', 'dedupe-scope', 'dedupe-memory', 'dedupe-log'],
      when: [
        emits(['a', { id: 1 }], ['b', { id: '1' }], ['self', { id: 1, name: 'self' }]),
        { restart: true },
        emits(['c', { id: 1 }], ['d', { id: 2 }]),
      ],
      then: {
        emits: ['a', 'self', 'd'],
        logs: ['dedupe: 1 duplicate event(s) dropped', 'dedupe: 1 duplicate event(s) dropped'],
      },
    },
    {
      component: 'emitting/unique.mjs',
      title: 'unique: 100 ids, first in, first out; a hit does not refresh its place',
      shows: ['dedupe-unique'],
      when: [emits(...ids(0, 100)), emits(['hit', { id: 0 }], ['new', { id: 100 }], ['back', { id: 0 }])],
      then: { emits: [...ids(0, 100).map(([n]) => n), 'new', 'back'] },
    },
    {
      component: 'emitting/unique.mjs',
      title: 'an event without an id passes, with a line that says so',
      shows: ['dedupe-missing-id'],
      when: [emits(['a'], ['b'])],
      then: { emits: ['a', 'b'], logs: [/^dedupe: 2 event\(s\) were emitted without an id/] },
    },
    {
      component: 'emitting/greatest.mjs',
      title: 'greatest: a newest-first batch with ts passes whole, and not a second time',
      shows: ['dedupe-greatest', 'emit-order'],
      when: [1, 2].map(() => emits(['3', { id: 3, ts: 3 }], ['2', { id: 2, ts: 2 }], ['1', { id: '1', ts: 1 }])),
      then: { emits: ['1', '2', '3'] },
    },
    {
      component: 'emitting/greatest.mjs',
      title: 'greatest: an id that is no number is dropped, with a line; numbers are compared as numbers',
      shows: ['dedupe-greatest'],
      when: [emits(['9', { id: '9' }], ['x', { id: 'x' }], ['10', { id: '10' }])],
      then: { emits: ['9', '10'], logs: [/^dedupe: 1 event\(s\) dropped.*numeric ids, got "x"/] },
    },
    {
      component: 'emitting/last.mjs',
      title: 'last: what follows the remembered id in the batch passes, or all when it is not there',
      shows: ['dedupe-last'],
      when: [
        emits(['a', { id: 'a' }], ['b', { id: 'b' }]),
        emits(['a', { id: 'a' }], ['b', { id: 'b' }], ['c', { id: 'c' }]),
        emits(['x', { id: 'x' }]),
      ],
      then: { emits: ['a', 'b', 'c', 'x'] },
    },
    {
      component: 'emitting/last.mjs',
      title: 'last: the event of newest ts is the one remembered',
      shows: ['dedupe-last', 'emit-order'],
      when: [
        emits(['new', { id: 'n', ts: 2 }], ['old', { id: 'o', ts: 1 }]),
        emits(['old', { id: 'o', ts: 1 }], ['new', { id: 'n', ts: 2 }], ['newer', { id: 'm', ts: 3 }]),
      ],
      then: { emits: ['old', 'new', 'newer'] },
    },
  ],
} satisfies Area;
