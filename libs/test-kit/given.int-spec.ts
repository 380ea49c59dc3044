import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { given, type Stub } from './index.js';

const folder = mkdtempSync(path.join(tmpdir(), 'sluice-kit-'));
let files = 0;
/** A file with this code. */
const component = (code: string): string => {
  const file = path.join(folder, `component${++files}.mjs`);
  writeFileSync(file, code);
  return file;
};
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ORDERS = component(`export default {
  name: 'Orders', version: '0.1.0', dedupe: 'unique',
  props: {
    http: { type: '$.interface.http', customResponse: true },
    timer: { type: '$.interface.timer', default: { intervalSeconds: 900 } },
    db: '$.service.db',
    token: { type: 'string', secret: true },
  },
  hooks: { async activate() { console.log('posts go to', this.http.endpoint, 'with', this.token); } },
  async run(event) {
    if (event.method === undefined) return this.$emit({ sum: this.db.get('sum') ?? 0 }, { id: event.timestamp, name: 'sums' });
    if (event.headers['x-shop-token'] !== this.token) return this.http.respond({ status: 403, body: 'wrong token' });
    if (typeof event.body.id !== 'string') throw new Error('an order needs an id');
    this.db.set('sum', (this.db.get('sum') ?? 0) + event.body.amount);
    this.$emit(event.body, { id: event.body.id, summary: 'Order ' + event.body.id });
    this.http.respond({ status: 202, body: { accepted: true } });
  },
};`);
const order = { request: { body: { id: 'A1', amount: 25 }, headers: { 'X-Shop-Token': 'sesame' } } };
const NOW = '2026-01-01T00:00:00Z';
const orders = given(ORDERS, { props: { token: 'sesame' }, now: NOW });

const source = (run: string, props = ''): string =>
  component(`export default { name: 'S', version: '0.1.0', props: { ${props} }, async run(event) { ${run} } };`);

describe('given a source, when requests arrive', () => {
  it('emits with deduplication, replies, and keeps the db', async () => {
    const outcome = await orders.when(order, order);
    outcome.expect({
      emits: [{ id: 'A1', summary: 'Order A1', event: { amount: 25 } }],
      dropped: [{ id: 'A1' }],
      reply: { status: 202, body: { accepted: true } },
      db: { sum: 50 },
      error: undefined,
      now: Date.parse(NOW),
      ms: 0,
    });
    expect(() => outcome.expect({ db: { sum: 51 } })).toThrow('db.sum: expected 51, got 50');
  });

  it('tells an error with the line of the author, and what a caller reads', async () => {
    const outcome = await orders.when({ request: { ...order.request, body: {} } });
    outcome.expect({
      emits: [],
      error: { name: 'Error', message: 'an order needs an id', file: path.basename(ORDERS), line: 13 },
      reply: { status: 500, body: { code: 'run_failed' } },
    });
  });

  it('ticks its timers by their names and as time passes, and masks secrets in logs', async () => {
    const outcome = await orders.when({ hook: 'activate' }, order, { tick: 'timer' }, { after: '30m' });
    expect(outcome.logs).toEqual([
      { kind: 'console.log', text: expect.stringMatching(/^posts go to .* with \*{8}$/), ts: Date.parse(NOW) },
    ]);
    const at = Date.parse(NOW) / 1000;
    outcome.expect({
      emits: [
        { id: 'A1' },
        { name: 'sums', event: { sum: 25 }, id: at },
        { name: 'sums', id: at + 900 },
        { name: 'sums', id: at + 1800 },
      ],
      now: Date.parse(NOW) + 1_800_000,
    });
  });

  it('refuses code that it cannot build, and a component without a prop that it needs, as a deployment does', async () => {
    await expect(given(component('export default {')).when(order)).rejects.toThrow('cannot be compiled');
    const withPackage = component(`import x from 'left-pad'; export default { run: () => x };`);
    await expect(given(withPackage).when(order)).rejects.toThrow('"left-pad": a test installs no npm packages');
    await expect(given(ORDERS).when(order)).rejects.toThrow('token');
    await expect(given(source('')).when(order)).rejects.toThrow('no prop of type $.interface.http');
  });
});

describe('given a stopped clock, when code waits', () => {
  it('goes to the next timer, and keeps the order and the run of timers', async () => {
    const file = source(`
      const start = Date.now();
      setTimeout(() => console.log('timer'), 1_000);
      await new Promise((done) => setTimeout(done, 3_600_000));
      this.$emit({ waited: Date.now() - start, at: new Date().toISOString() });
    `);
    const began = performance.now();
    const outcome = await given(file, { now: NOW }).when({ event: {} });
    outcome.expect({
      emits: [{ event: { waited: 3_600_000, at: '2026-01-01T01:00:00.000Z' } }],
      logs: [{ text: 'timer', ts: Date.parse(NOW) + 1_000 }],
      ms: 3_600_000,
      now: Date.parse(NOW) + 3_600_000,
      warnings: [/no prop is an interface/, /waited 3600000 ms/],
    });
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  it('stands still for work of threads, also with a time limit that nobody needs any more', async () => {
    const file = source(`
      const { scrypt } = await import('node:crypto');
      const answer = await fetch('https://api.example.com/', { signal: AbortSignal.timeout(20_000) });
      await answer.text();
      for (let n = 0; n < 3; n++) await new Promise((done) => scrypt('a', 'b', 32, { N: 1024 }, done));
      for (let n = 0; n < 100; n++) await new Promise((done) => setImmediate(done));
    `);
    const http: readonly Stub[] = [{ url: /./, reply: { body: 'done' } }];
    (await given(file, { http, now: NOW }).when({ event: {} })).expect({ error: undefined, ms: 0 });
  });

  it('lets a time limit pass where code waits for nothing else', async () => {
    const file = source(`
      const signal = AbortSignal.timeout(20_000);
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    `);
    (await given(file).when({ event: {} })).expect({ error: { name: 'TimeoutError' }, ms: 20_000 });
  });

  it('ends a run that nothing can go on with', async () => {
    const outcome = await given(source('await new Promise(() => {});')).when({ event: {} });
    outcome.expect({ error: { code: 'Timeout', message: /waits for what never comes/ } });
  });
});

describe('given stubs, when code makes requests', () => {
  const http: readonly Stub[] = [
    { method: 'get', url: 'https://api.example.com/items', reply: { body: [{ id: 1 }] } },
    { method: 'POST', url: /\/items$/, body: { id: 2 }, reply: ({ body }) => ({ status: 201, body }) },
  ];

  it('answers fetch, http and https, and tells the requests', async () => {
    const file = source(`
      const list = await (await fetch('https://api.example.com/items?page=1')).json();
      const { request } = await import('node:https');
      const text = await new Promise((resolve, reject) => {
        const sent = request('https://api.example.com/items', { method: 'POST', headers: { 'content-type': 'application/json' } }, (answer) => {
          let all = '';
          answer.on('data', (part) => (all += part));
          answer.on('end', () => resolve(answer.statusCode + all));
        });
        sent.on('error', reject);
        sent.end(JSON.stringify({ id: 2, name: 'b' }));
      });
      this.$emit({ list, text });
    `);
    const outcome = await given(file, { http }).when({ event: {} });
    outcome.expect({
      error: undefined,
      emits: [{ event: { list: [{ id: 1 }], text: '201{"id":2,"name":"b"}' } }],
      requests: [
        { method: 'GET', url: 'https://api.example.com/items?page=1' },
        { method: 'POST', body: { id: 2, name: 'b' } },
      ],
    });
  });

  it('fails any other request, with method, address and the nearest stub', async () => {
    const file = source(`await fetch('https://api.example.com/item', { method: 'DELETE' });`);
    const outcome = await given(file, { http }).when({ event: {} });
    const message = /no stub answers DELETE https:\/\/api\.example\.com\/item\. The nearest is/;
    outcome.expect({ error: { message }, requests: [{ method: 'DELETE' }] });
  });

  it('has no other network', async () => {
    const file = source(`
      const { connect } = await import('node:net');
      await new Promise((resolve, reject) => connect(80, 'example.com').on('connect', resolve).on('error', reject));
    `);
    (await given(file).when({ event: {} })).expect({ error: { message: /a test has no network/ } });
  });
});

describe('given data stores and accounts', () => {
  it('reads and writes records, and has the credentials in $auth', async () => {
    const file = source(
      `const visits = await this.store.get('visits');
       await this.store.set('visits', visits + 1);
       this.$emit({ visits: await this.store.get('visits'), token: this.github.$auth.oauth_access_token });
       console.log(this.github.$auth.oauth_access_token);`,
      `store: { type: 'data_store' }, github: { type: 'app', app: 'github' }`,
    );
    const state = { stores: { store: { visits: 1 } }, accounts: { github: { oauth_access_token: 'token-123' } } };
    const outcome = await given(file, state).when({ event: {} });
    outcome.expect({ emits: [{ event: { visits: 2, token: 'token-123' } }], logs: [{ text: '********' }] });
    await expect(given(file, { stores: { stor: {} } }).when({ event: {} })).rejects.toThrow('stores.stor');
  });
});

describe('given a component with additionalProps', () => {
  const file = component(`export default {
    name: 'D', version: '0.1.0', type: 'action',
    props: { kind: { type: 'string', reloadProps: true } },
    additionalProps() { return this.kind === 'repeated' ? { days: { type: 'integer' } } : {}; },
    run() { return { kind: this.kind, days: this.days }; },
  };`);

  it('needs the props that it adds', async () => {
    const outcome = await given(file, { props: { kind: 'repeated' } }).when({ run: { days: '3' } });
    outcome.expect({ ret: { kind: 'repeated', days: 3 } });
    await expect(given(file).when({ run: { kind: 'repeated' } })).rejects.toThrow('days');
    (await given(file).when({ run: { kind: 'once' } })).expect({ ret: { kind: 'once' }, error: undefined });
  });
});

describe('given an action, when it runs', () => {
  it('tells what it returned and exported, and the options of its props page by page', async () => {
    const file = component(`export default {
      name: 'A', version: '0.1.0', type: 'action',
      props: { list: { type: 'string', options({ page, prevContext }) {
        return { options: ['a' + page, 'after ' + (prevContext.last ?? 'none')], context: { last: page } };
      } } },
      async run({ $ }) { $.export('$summary', 'done'); return { list: this.list }; },
    };`);
    const outcome = await given(file).when({ options: 'list' }, { options: 'list', page: 1 }, { run: { list: 'a0' } });
    outcome.expect({ options: ['a1', 'after 0'], ret: { list: 'a0' }, exports: { $summary: 'done' } });
  });
});
