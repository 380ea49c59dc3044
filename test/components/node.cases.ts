import { type Area } from './case.js';

const props = { server: '$SERVER' };

export default {
  area: 'node',
  title: 'Node and the language',
  cases: [
    {
      component: 'node/crypto.mjs',
      title: 'hash, HMAC, Web Crypto, ciphers, keys and signatures',
      shows: ['built-in-modules'],
      then: {
        emits: [
          {
            hash: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
            hmac: 'T9CyFSdu8S8rPkyOysKBFJi2Vvw=',
            web: true,
            opened: 'secret',
            verified: true,
            equal: true,
            uuid: 36,
          },
        ],
      },
    },
    {
      component: 'node/zlib-streams.mjs',
      title: 'gzip, brotli, pipelines, transforms and web streams',
      shows: ['built-in-modules'],
      then: { emits: [[5_000, 'TIDE', 'b', 'web']] },
    },
    {
      component: 'node/timers.mjs',
      title: 'timers, microtasks, intervals and AsyncLocalStorage',
      shows: ['built-in-modules'],
      then: { emits: [[['immediate', 'microtask', 'tick'], 3, 'kept']] },
    },
    {
      component: 'node/classes.mjs',
      title: 'classes with private fields and getters, EventEmitter subclasses, EventTarget',
      shows: ['built-in-modules'],
      then: { emits: [[7, 1, [], { id: 1 }, 1, true]] },
    },
    {
      component: 'node/language.mjs',
      title: 'generators, async iterators, structuredClone, WeakRef, Proxy, BigInt, named groups',
      shows: ['code-language', 'this-methods'],
      then: {
        emits: [
          {
            seen: [0, 1, 2],
            numbers: [1, 2],
            copy: ['1970-01-01T00:00:00.000Z', 1, true],
            proxy: 'no thing',
            big: '18446744073709551616',
            named: '2026',
            parts: [/old|new/, 3, 'a+b'],
            optional: 'fallback',
            tagged: '\\n',
            symbol: true,
          },
        ],
      },
    },
    {
      component: 'node/intl.mjs',
      title: 'Intl, time zones, collation, normal forms; the clock is UTC',
      shows: ['built-in-modules'],
      then: { emits: [['7/1/26, 8:00 AM', '1.234,50 €', 'UTC', 'aäz', 'one', 'VIII']] },
    },
    {
      component: 'node/buffers.mjs',
      title: 'Buffers, encodings and decoders',
      shows: ['built-in-modules'],
      then: {
        emits: [
          {
            hex: '7a61c5bcc3b3c582c487',
            base64: 'emHFvMOzxYLEhw',
            latin1: 'é',
            utf16: 2,
            split: 'zażółć',
            atob: 'hi',
            number: 256,
            decoded: '€',
            view: 258,
          },
        ],
      },
    },
    {
      component: 'node/urls.mjs',
      title: 'URL, querystring, path, util, assert and os',
      shows: ['built-in-modules'],
      then: {
        emits: [
          [
            'https://user@example.com:8080/b?x=1&x=%C3%A4#top',
            '/p',
            'a=1&a=2',
            '/b.txt',
            '{ a: { b: 1 } }',
            'it is 1',
            'ERR_ASSERTION',
            'string',
            true,
          ],
        ],
      },
    },
    {
      component: 'node/files.mjs',
      title: 'files and folders in /tmp, which the runs of one process share',
      shows: ['isolation-files', 'warm-process'],
      // Without a jail, /tmp is not the folder of the process, which is why its size is not limited there either.
      needs: 'tmp_size',
      when: [{ event: { first: true } }, { event: {} }],
      then: { emits: [[['one', 'two'], 8, false, /./], 'of the run before'] },
    },
    {
      component: 'node/temporary-folder.mjs',
      title: 'os.tmpdir(), the working folder and home are the folder to write in, at every level',
      shows: ['isolation-files'],
      then: { emits: [['written', true, true]] },
    },
    {
      component: 'node/abort.mjs',
      title: 'AbortController and AbortSignal.timeout',
      shows: ['built-in-modules', 'egress-guard'],
      given: { props },
      then: { emits: [['AbortError', 'TimeoutError']] },
    },
    {
      component: 'node/fetch.mjs',
      title: 'fetch: JSON, multipart forms with a file, and answers that are not 2xx',
      shows: ['egress-guard'],
      given: { props },
      then: {
        emits: [
          [200, 'application/json', { method: 'POST', url: '/items?x=1', type: 'application/json', body: '{"a":1}' }],
          ['multipart/form-data', true],
          [false, 'no such item'],
        ],
      },
    },
    {
      component: 'node/http-client.cjs',
      title: 'http.request of Node',
      shows: ['egress-guard', 'built-in-modules'],
      given: { props },
      then: { emits: [{ method: 'PATCH', url: '/x', type: 'text/plain', body: 'body' }] },
    },
    {
      component: 'node/paging.mjs',
      title: 'a polling source that pages through an API and remembers its last run',
      shows: ['timer-event', 'dedupe-unique', 'db-durable'],
      given: { props: { ...props, timer: { intervalSeconds: 900 } } },
      when: [{ event: { timestamp: 100, interval_seconds: 900 } }, { event: { timestamp: 1_000 } }],
      then: {
        emits: [0, 1, 2, 3, 4, 5].map((id) => ({ id })),
        metadata: [0, 1, 2, 3, 4, 5].map((id) => ({ id, summary: `Item ${id}`, ts: 100_000 })),
        db: { lastRun: 1_000 },
      },
    },
  ],
} satisfies Area;
