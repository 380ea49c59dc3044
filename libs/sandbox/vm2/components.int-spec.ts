import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createEgress } from '#libs/egress/guarded-dispatcher.js';
import { EgressSockets } from '#libs/egress/egress-sockets.js';
import { detectIsolation } from '../jail/detect.js';
import { BundleNotLoaded } from '../sandbox.js';
import { type RunOutcome, type Sandbox } from '../sandbox.js';
import { ComponentSandboxes, type SpecPart } from '../testing/component-sandboxes.js';

const example = (...parts: string[]): string => path.resolve('examples', ...parts);

describe('components in a vm2 realm, against the plain child', () => {
  let plain: ComponentSandboxes;
  let realm: ComponentSandboxes;
  let sockets: EgressSockets;
  let server: http.Server;
  let origin: string;
  let count = 0;

  beforeAll(async () => {
    const egress = createEgress({ allow: ['127.0.0.1'] });
    sockets = await EgressSockets.create('sluice-test-egress', { policy: egress.policy, lookup: egress.lookup });
    const egressSocket = (workspaceId: string, sourceId: string) => sockets.pathFor(workspaceId, sourceId);
    plain = await ComponentSandboxes.open(await detectIsolation('auto'), { egressSocket });
    realm = await ComponentSandboxes.open(await detectIsolation('vm2'), { egressSocket });
    const feed = await readFile(example('feeds', 'releases.atom'));
    server = http.createServer((request, response) => {
      if (request.url === '/echo') {
        response.setHeader('x-method', request.method ?? '');
        request.pipe(response);
      } else if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end();
      else if (request.url !== '/hang') response.setHeader('etag', '"1"').end(feed);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await plain.close();
    await realm.close();
    await sockets.close();
  });

  const run = (sandbox: Sandbox, event: unknown = {}): Promise<RunOutcome> =>
    sandbox.run({ invocationId: `inv_${++count}`, event: JSON.stringify(event), timeoutMs: 5_000 });

  /** Outcome of a run without times and stacks. */
  const resultOf = ({ emits, logs, response, error, dbChanges }: RunOutcome & Record<string, unknown>) => ({
    emits: emits.map(({ ts, ...emit }) => ({ ...emit, hasTs: ts !== undefined })),
    logs: logs.map(({ k, msg }) => [k, msg]),
    response,
    dbChanges,
    error: error ? { ...(error as object), stack: '' } : null,
  });
  const both = async (code: string, events: readonly unknown[], part: SpecPart = {}) => {
    const results = [];
    for (const sandboxes of [plain, realm]) {
      const sandbox = await sandboxes.start(code, part);
      const outcomes = [];
      for (const event of events) outcomes.push(resultOf((await run(sandbox, event)) as never));
      await sandbox.stop();
      results.push(outcomes);
    }
    expect(results[1]).toEqual(results[0]);
    return results[1] ?? [];
  };
  const body = (text: string): string => `export default { name: 't', version: '1', async run(event) { ${text} } }`;

  it('runs examples/hello', async () => {
    const code = await readFile(example('hello', 'component.mjs'), 'utf8');
    const [outcome] = await both(code, [{ method: 'POST', path: '/', client_ip: '1.2.3.4', body: { name: 'Ada' } }], {
      props: { http: { kind: 'http', endpoint: 'http://h/1' } },
    });
    expect(outcome?.emits[0]?.payload).toContain('Hello, Ada!');
  });

  it('runs examples/github-webhook', async () => {
    const code = await readFile(example('github-webhook', 'component.mjs'), 'utf8');
    const bodyRaw = '{"action":"opened","repository":{"full_name":"a/b"},"sender":{"login":"é"}}';
    const signature = `sha256=${createHmac('sha256', 'sécret').update(bodyRaw).digest('hex')}`;
    const headers = { 'x-hub-signature-256': signature, 'x-github-delivery': 'd1', 'x-github-event': 'issues' };
    const event = { headers, bodyRaw, body: JSON.parse(bodyRaw) as unknown };
    const outcomes = await both(code, [event, { ...event, bodyRaw: `${bodyRaw} ` }, { ...event, headers: {} }], {
      props: { http: { kind: 'http', endpoint: 'http://h/1' }, secret: { kind: 'value', value: 'sécret' } },
    });
    expect(outcomes.map(({ response }) => response?.status)).toEqual([200, 401, 401]);
    expect(outcomes[0]?.emits[0]).toMatchObject({ id: 'd1', summary: 'issues opened in a/b by é' });
  });

  it('reads an event that holds its body once', async () => {
    const text = '{"method":"POST","bodyRaw":"","body": { "é": "🙂", "__proto__": 1 } ,"url":"u"}';
    const [start, end] = [text.indexOf(' {'), text.indexOf(',"url"')];
    for (const sandboxes of [plain, realm]) {
      const sandbox = await sandboxes.start(body(`this.$emit(JSON.stringify(event))`));
      const request = { invocationId: `inv_${++count}`, event: text, body: { start, end }, timeoutMs: 5_000 };
      const { emits } = await sandbox.run(request);
      await sandbox.stop();
      expect(JSON.parse(emits[0]?.payload ?? '')).toBe(
        `{"method":"POST","bodyRaw":" { \\"é\\": \\"🙂\\", \\"__proto__\\": 1 } ","body":{"é":"🙂","__proto__":1},"url":"u"}`,
      );
    }
  });

  it('passes an event on as it came, without run', async () => {
    const text = '{"method":"POST","bodyRaw":"","body": { "n": 12345678901234567890 } ,"url":"u"}';
    const [start, end] = [text.indexOf(' {'), text.indexOf(',"url"')];
    for (const sandboxes of [plain, realm]) {
      const sandbox = await sandboxes.start(`export default { name: 'a', props: { t: '$.interface.timer' } };`);
      const request = { invocationId: `inv_${++count}`, event: text, body: { start, end }, timeoutMs: 5_000 };
      const { emits } = await sandbox.run(request);
      await sandbox.stop();
      expect(emits.map(({ payload }) => payload)).toEqual([
        '{"method":"POST","bodyRaw":" { \\"n\\": 12345678901234567890 } ","body": { "n": 12345678901234567890 } ,"url":"u"}',
      ]);
    }
  });

  it('runs examples/feed', async () => {
    const code = await readFile(example('feed', 'component.mjs'), 'utf8');
    const [first, second] = await both(code, [{}, {}], {
      props: {
        url: { kind: 'value', value: `${origin}/feed` },
        timer: { kind: 'timer', intervalSeconds: 60, cron: null },
        db: { kind: 'db' },
      },
    });
    expect([first?.emits.length, second?.emits.length]).toEqual([18, 0]);
  });

  it('produces the same texts, digests, bytes, URLs and log lines', async () => {
    await both(
      `import crypto, { createHash, createHmac } from 'node:crypto'; import { Buffer as B } from 'buffer'; import util from 'util'; import { URL as U } from 'node:url';
       export default { name: 't', version: '1', async run() {
        const tricky = ['', 'é€😀', '\\ud800x', 'a+b/c=='];
        this.$emit(tricky.map((t) => ['utf8', 'hex', 'base64', 'base64url', 'latin1', 'utf16le', 'ascii'].map((e) => [Buffer.from(t).toString(e), Buffer.from(t, e).toString('hex')])));
        this.$emit([new TextDecoder().decode(new Uint8Array([0xf0, 0x9f, 0x98, 0x41, 0xc0, 0x80, 0xe2, 0x82, 0xed, 0xa0, 0x80, 0xef, 0xbf])), new TextEncoder().encode('é😀').length, atob('aGk='), btoa('hi')]);
        this.$emit(['md5', 'sha1', 'sha256', 'sha512'].map((a) => [createHash(a).update('é').update(B.from([0, 255])).digest('hex'), createHmac(a, 'k').update('x').digest('base64')]));
        for (const f of [() => createHash('none'), () => crypto.timingSafeEqual(B.from('a'), B.from('ab')), () => new URL('/x')]) try { f(); this.$emit('no error') } catch (e) { this.$emit(e.constructor.name) }
        this.$emit([crypto.timingSafeEqual(B.from('ab'), B.from('ab')), crypto.randomUUID().length, crypto.randomBytes(7).length, crypto.randomInt(5) < 5]);
        const u = new U('../b?x=1&y=é#f', 'https://u:p@h.example:8443/a/c'); u.searchParams.append('z z', "a&b'~"); u.pathname = '/p q';
        this.$emit([String(u), u.host, u.origin, u.hash, [...u.searchParams], new URLSearchParams({ a: '1 2', b: '%' }).toString(), JSON.stringify({ u })]);
        const b = B.alloc(8); b.writeUInt32BE(0xdeadbeef, 0); b.writeInt16LE(-2, 4);
        this.$emit([b, b.readUInt32BE(0), b.readInt16LE(4), B.concat([b.subarray(0, 2), B.from('z')]).toString('hex'), B.isBuffer(b), B.byteLength('é'), b.equals(B.from(b)), b.indexOf(0xbe)]);
        console.log('%s is %d, %j', 'x', 4, { a: 1 }, [1, 'two', { three: [3, { four: { five: 5 } }] }], null, undefined, new Map([['k', new Set([1])]]), /r/g, new Date(0), Symbol('s'), 10n, -0, () => 1, class Named {});
        console.error({ 'a-b': "it's", long: 'x'.repeat(80), nested: { deep: { deeper: { deepest: 1 } } } }); console.warn(); console.count(); console.log('100%', 5);
        console.log(util.inspect({ a: [] , b: {} }), util.format('%o|%%', 1), Object.assign(Object.create(null), { n: 1 }), new (class P { q = 1 })());
       } }`,
      [{}],
    );
  });

  it('separates runs: logs through timers and awaits, and uncaught errors', async () => {
    const code = body(`
      console.log('start', event.n); await new Promise((r) => setTimeout(r, 20 - event.n)); console.log('later', event.n);
      if (event.n === 1) { setTimeout(() => { throw new RangeError('from a timer') }, 1); await new Promise(() => {}) }
      if (event.n === 2) { void (async () => { throw new TypeError('never caught') })(); await new Promise(() => {}) }
      if (event.n === 3) { queueMicrotask(() => { throw Object.assign(new Error('coded'), { code: 'E_CODE' }) }); await new Promise(() => {}) }
      if (event.n === 4) throw 'a text';
      await new Promise((r) => setImmediate(r)); this.$emit(event.n)`);
    const sandbox = await realm.start(code);
    const outcomes = await Promise.all([0, 1, 2, 3, 4, 5].map((n) => run(sandbox, { n })));
    expect(outcomes.map(({ logs }) => logs.map(({ msg }) => msg))).toEqual(
      [0, 1, 2, 3, 4, 5].map((n) => [`start ${n}`, `later ${n}`]),
    );
    expect(outcomes.map(({ error }) => (error ? [error.name, error.message, error.code] : null))).toEqual([
      null,
      ['RangeError', 'from a timer', 'RangeError'],
      ['TypeError', 'never caught', 'TypeError'],
      ['Error', 'coded', 'E_CODE'],
      ['Error', 'a text', 'Error'],
      null,
    ]);
    await sandbox.stop();
  });

  it('fetches: methods, bodies, headers, refusals and time-outs', async () => {
    const [outcome] = await both(
      body(`
        const r = await fetch(event.origin + '/echo', { method: 'PUT', body: new URLSearchParams({ a: 'é' }) });
        this.$emit([r.status, r.ok, r.headers.get('X-Method'), await r.text(), r.bodyUsed]);
        const again = await fetch(event.origin + '/echo', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ j: '€' }) });
        this.$emit(await again.json());
        const bytes = await (await fetch(new URL('/echo', event.origin), { method: 'POST', body: Buffer.from([0, 128, 255]) })).arrayBuffer();
        this.$emit([...new Uint8Array(bytes)]);
        for (const [url, init] of [['http://10.0.0.1/', {}], [event.origin + '/hang', { signal: AbortSignal.timeout(50) }]])
          try { await fetch(url, init) } catch (error) { this.$emit([error.name, error.cause?.code ?? null]) }`),
      [{ origin }],
    );
    expect(outcome?.emits).toHaveLength(5);
  });

  it('enforces the limits of a run, and the store of a source', async () => {
    const [outcome] = await both(
      body(`this.db.set('k', { v: 1 }); this.$emit(this.db.get('k')); this.db.set('k'); this.$emit(this.db.get('k') ?? null);
        for (const f of [() => this.$emit('x'.repeat(7_000_000)), () => this.db.set('k', 'x'.repeat(70_000)), () => this.$emit(() => 1), () => this.http.respond({ status: 9 })])
          try { f(); this.$emit('no error') } catch (e) { this.$emit([e instanceof Error, e.message, e.code ?? null]) }
        for (let i = 0; i < 2_000; i++) console.log(i);`),
      [{}],
      { props: { db: { kind: 'db' }, http: { kind: 'http', endpoint: 'http://h/1' } } },
    );
    expect(outcome?.emits.map(({ payload }) => payload.includes('no error'))).not.toContain(true);
  });

  it('refuses other modules of Node while loading, naming module and setting', async () => {
    for (const name of ['node:fs', 'child_process', 'vm', 'module']) {
      const started = realm.start(
        `const m = require(${JSON.stringify(name)}); module.exports = { name: 't', run() {} , m }`,
      );
      await expect(started).rejects.toThrow(BundleNotLoaded);
      await expect(started).rejects.toThrow(new RegExp(`"${name}".*SLUICE_ISOLATION=vm2`));
    }
  });

  it('explains why code does not load', async () => {
    const dir = await mkdtemp(path.join(tmpdir(), 'sluice-test-'));
    const file = path.join(dir, 'broken.cjs');
    await writeFile(file, 'const const');
    await expect(realm.start('', {}).then(() => 'loaded')).rejects.toThrow('exports nothing');
    const broken = realm.factory.start({
      sourceId: 'dc_x',
      workspaceId: 'o_1',
      props: {},
      db: {},
      concurrency: 1,
      bundleFile: file,
    });
    await expect(broken).rejects.toThrow(/Unexpected token/);
    await rm(dir, { recursive: true, force: true });
  });
});
