import { type Area } from './case.js';

export default {
  area: 'db',
  title: '$.service.db and hooks',
  cases: [
    {
      component: 'db/store.mjs',
      title: 'synchronous, copies both ways, undefined deletes, one store for all props',
      shows: ['db-calls', 'db-one-store'],
      given: { db: { count: 4 } },
      then: {
        emits: [{ absent: 'undefined', awaited: ['a'], null: null, gone: 'undefined', same: ['a'], count: 5 }],
        db: { list: ['a'], null: null, date: '1970-01-01T00:00:00.000Z', count: 5 },
      },
    },
    {
      component: 'db/counter.mjs',
      title: 'events that arrive together run one at a time, and a restart keeps what was stored',
      shows: ['run-concurrency', 'run-order', 'db-durable'],
      when: [{ together: [1, 2, 3] }, { restart: true }, { event: 4 }],
      then: { emits: [1, 2, 3, 4], db: { count: 4 } },
    },
    {
      component: 'db/too-large.mjs',
      title: 'a value above 60 KB throws with the numbers; earlier changes stay',
      shows: ['db-limits', 'db-durable'],
      then: { db: { small: 1 }, errors: [{ message: /large.*70002|70002/ }] },
    },
    {
      component: 'db/passed-between-hooks.mjs',
      title: 'hooks share one store, know the endpoint, and may emit',
      shows: ['hook-one-db', 'hook-emits', 'log-hook'],
      when: [{ hook: 'deploy' }, { hook: 'activate' }, { hook: 'deactivate' }],
      then: { emits: ['from deploy'], logs: ['console.log: active s-1 at https://ekey1.example.test'], db: {} },
    },
  ],
} satisfies Area;
