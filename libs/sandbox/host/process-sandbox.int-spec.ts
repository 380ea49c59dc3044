import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { chmodSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { detectIsolation } from '../jail/detect.js';
import { BundleNotLoaded, type RunOutcome, type Sandbox, SandboxGone } from '../sandbox.js';
import { ComponentSandboxes } from '../testing/component-sandboxes.js';

describe('the egress socket of a process', () => {
  it('is given back once, when the process has ended or could not be started', async () => {
    const folder = tempDir('egress');
    chmodSync(folder, 0o711);
    const file = path.join(folder, 'egress.sock');
    const server = createServer().listen(file);
    await EventEmitter.once(server, 'listening');
    const asked: string[] = [];
    const done: string[] = [];
    const sandboxes = await ComponentSandboxes.open(await detectIsolation('auto'), {
      egressSocket: (_workspace, sourceId) => {
        asked.push(sourceId);
        return sourceId === 'dc_none' ? undefined : Promise.resolve(file);
      },
      egressDone: (sourceId) => void done.push(sourceId),
    });
    const code = `export default { name: 't', version: '1', run() {} }`;
    const sandbox = await sandboxes.start(code, { sourceId: 'dc_runs' });
    expect(done).toEqual([]);
    await sandbox.stop();
    expect(done).toEqual(['dc_runs']);
    await expect(sandboxes.start(`throw new Error('broken')`, { sourceId: 'dc_broken' })).rejects.toThrow();
    expect(done).toEqual(['dc_runs', 'dc_broken']);
    const offline = await sandboxes.start(code, { sourceId: 'dc_none' });
    await offline.stop();
    expect(done).toEqual(['dc_runs', 'dc_broken']);
    expect(asked).toEqual(['dc_runs', 'dc_broken', 'dc_none']);
    await sandboxes.close();
    server.close();
    removeDir(folder);
  });
});

describe('a warm process', () => {
  let sandboxes: ComponentSandboxes;
  let count = 0;

  beforeAll(async () => {
    sandboxes = await ComponentSandboxes.open(await detectIsolation('auto'), { limits: { startTimeoutMs: 2_000 } });
  });
  afterAll(() => sandboxes.close());

  const run = (sandbox: Sandbox, event: unknown = {}, timeoutMs = 5_000): Promise<RunOutcome> =>
    sandbox.run({ invocationId: `inv_${++count}`, event: JSON.stringify(event), timeoutMs });
  const once = async (body: string, event: unknown = {}, rest = ''): Promise<RunOutcome> => {
    const sandbox = await sandboxes.start(
      `export default { name: 't', version: '1', async run(event) { ${body} }, ${rest} }`,
    );
    const outcome = await run(sandbox, event);
    await sandbox.stop();
    return outcome;
  };
  const payloads = ({ emits }: RunOutcome): unknown[] => emits.map(({ payload }) => JSON.parse(payload) as unknown);

  it('binds props, methods and apps afresh for every run', async () => {
    const sandbox = await sandboxes.start(
      `const app = { type: 'app', app: 'a', methods: { token() { return this.$auth.api_key + this.suffix() }, suffix() { return '!' }, static() { return 7 } } };
       export default { name: 't', version: '1',
        props: { app, list: { type: 'string[]' }, chosen: { type: 'string' }, both: { type: 'string', withLabel: true }, timer: '$.interface.timer', missing: 'string' },
        methods: { twice(n) { return n * this.factor() }, factor() { return 2 }, list() { return 'a method' } },
        async run() {
          const { twice } = this; const { token } = this.app;
          this.list.push('more');
          this.$emit([twice(4), token(), this.app.$auth.nothing ?? null, app.methods.static(), this.list, this.chosen, this.both, this.timer, this.missing === undefined, process.env]);
        } }`,
      {
        sourceId: 'dc_env',
        props: {
          app: { kind: 'app', auth: { api_key: 'k' } },
          list: { kind: 'value', value: { __lv: [{ label: 'A', value: 'a' }] } },
          chosen: { kind: 'value', value: { __lv: { label: 'B', value: 'b' } } },
          both: { kind: 'value', value: { __lv: { label: 'C', value: 'c' } } },
          timer: { kind: 'timer', intervalSeconds: 60, cron: null },
        },
      },
    );
    const expected = [
      8,
      'k!',
      null,
      7,
      ['a', 'more'],
      'b',
      { label: 'C', value: 'c' },
      { type: '$.interface.timer', intervalSeconds: 60, interval_seconds: 60 },
      true,
      { PD_COMPONENT: 'dc_env' },
    ];
    expect(payloads(await run(sandbox))).toEqual([expected]);
    expect(payloads(await run(sandbox))).toEqual([expected]);
  });

  it('copies what is emitted at the time of the call, with its metadata', async () => {
    const outcome = await once(
      `const e = { a: 1 }; const p = this.$emit(e, { id: 5, name: 'chan', summary: 'sum', ts: 99 }); e.a = 2; this.$emit(); this.$emit(null, { id: 'x' });
       if (!(p instanceof Promise)) throw new Error('no promise');
       const circular = {}; circular.self = circular;
       try { this.$emit(circular) } catch (error) { this.$emit(error.message) }
       try { this.$emit(() => 1) } catch (error) { this.$emit(error.message) }`,
    );
    expect(outcome.emits.slice(0, 3)).toEqual([
      { payload: '{"a":1}', channel: 'chan', id: 5, summary: 'sum', ts: 99 },
      { payload: 'null', channel: '' },
      { payload: 'null', channel: '', id: 'x' },
    ]);
    expect(outcome.emits[3]?.payload).toContain('$emit: the value cannot be written as JSON');
    expect(outcome.emits[4]?.payload).toContain('a function cannot be written as JSON');
  });

  it('keeps every kind of text intact', async () => {
    const event = { text: 'Grüße \u0000 \u2028 😀 "\\ \ud83d' };
    expect(payloads(await once('this.$emit(event)', event))).toEqual([JSON.parse(JSON.stringify(event))]);
  });

  it('refuses with an error what the host would refuse as a breach, and continues', async () => {
    const outcome = await once(
      `const deep = (n) => { let v = 1; for (let i = 0; i < n; i++) v = [v]; return v };
       for (const call of [() => this.$emit(deep(300)), () => this.$emit(1, { name: 'n'.repeat(2000) }), () => this.$emit(1, { id: 'i'.repeat(9000) }), () => this.$emit(1, { delivery_ts: 'soon' })])
         try { call(); } catch (error) { this.$emit(error.message) }
       this.$emit(deep(256)); this.$emit(1, { summary: 's'.repeat(20000), id: { a: 1 }, ts: new Date(5) });
       throw Object.assign(new Error('m'.repeat(100000)), { code: 'c'.repeat(5000), stack: '\u0000'.repeat(100000) })`,
    );
    expect(outcome.status).toBe('threw');
    expect(payloads(outcome).slice(0, 4)).toEqual([
      expect.stringContaining('more than 256 levels'),
      expect.stringContaining('name may have at most 1024 bytes'),
      expect.stringContaining('id may have at most 8192 characters'),
      expect.stringContaining('delivery_ts must be epoch milliseconds'),
    ]);
    expect(outcome.emits[5]).toMatchObject({ id: '{"a":1}', ts: 5 });
  });

  it('passes the event on when there is no run', async () => {
    const sandbox = await sandboxes.start(
      `module.exports = { name: 't', version: '1', props: { http: '$.interface.http' } }`,
    );
    expect(payloads(await run(sandbox, { a: 1 }))).toEqual([{ a: 1 }]);
  });

  it('takes the first respond, in every form of its fields', async () => {
    const http = { props: { http: { kind: 'http', endpoint: 'http://h/1' } } } as const;
    const reply = async (call: string): Promise<RunOutcome> =>
      run(
        await sandboxes.start(
          `export default { name: 't', version: '1', props: { http: '$.interface.http' }, async run() { ${call} } }`,
          http,
        ),
      );
    expect(
      (
        await reply(
          `this.http.respond({ status: '201', body: { url: this.http.endpoint } }); this.http.respond({ status: 500 })`,
        )
      ).response,
    ).toEqual({
      status: 201,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: '{"url":"http://h/1"}',
      base64: false,
    });
    expect(
      (
        await reply(
          `this.http.respond({ body: 'text', headers: { 'Content-Type': 'text/x', 'set-cookie': ['a', 'b'] } })`,
        )
      ).response,
    ).toEqual({
      status: 200,
      headers: { 'Content-Type': 'text/x', 'set-cookie': ['a', 'b'] },
      body: 'text',
      base64: false,
    });
    expect((await reply(`this.http.respond({ status: 200, body: Buffer.from([255]) })`)).response).toMatchObject({
      headers: { 'content-type': 'application/octet-stream' },
      body: '/w==',
      base64: true,
    });
    for (const bad of [
      `{ status: 99 }`,
      `{ status: 'x' }`,
      `{ status: 200, headers: { 'a\\nb': '1' } }`,
      `{ status: 200, headers: { a: 'x\\r\\ny: z' } }`,
    ]) {
      const outcome = await reply(`this.http.respond(${bad})`);
      expect(outcome.status).toBe('threw');
      expect(outcome.response).toBeUndefined();
      expect(outcome.error?.message).toContain('respond:');
    }
  });

  it('passes on an immediate reply while the run is in progress', async () => {
    const sandbox = await sandboxes.start(
      `let go; export default { name: 't', version: '1', async run(event) { if (event.go) return go(); this.http.respond({ status: 202, immediate: true }); await new Promise((r) => { go = r }) } }`,
      { props: { http: { kind: 'http', endpoint: 'http://h/1' } } },
    );
    const replied = new Promise((resolve) => {
      void sandbox
        .run({ invocationId: 'inv_now', event: '{}', timeoutMs: 5_000, onImmediateResponse: resolve })
        .then((outcome) => resolve(outcome.status));
    });
    expect(await replied).toMatchObject({ status: 202 });
    expect((await run(sandbox, { go: true })).status).toBe('ok');
  });

  it('returns copies from db, keeps changes of a run that throws, and names values that are too large', async () => {
    const sandbox = await sandboxes.start(
      `export default { name: 't', version: '1', hooks: { async deploy() { this.db.set('hook', { id: 1 }) } }, async run(event) {
         if (event.read) return void this.$emit(['old', 'gone', 'a', 'nil', 'hook'].map((k) => this.db.get(k) ?? null));
         const old = this.db.get('old'); old.n = 2; this.$emit(this.db.get('old'));
         const a = { deep: [1] }; this.db.set('a', a); a.deep.push(2); this.db.set('gone', undefined); this.db.set('nil', null);
         try { this.db.set('big', 'x'.repeat(61 * 1024)) } catch (e) { this.$emit(e.message) }
         try { for (let i = 0; ; i++) this.db.set('k' + i, 'x'.repeat(59 * 1024)) } catch (e) { this.$emit(e.message) }
         throw new Error('after all');
       } }`,
      { props: { db: { kind: 'db' } }, db: { old: '{"n":1}', gone: '5' } },
    );
    expect((await sandbox.hook('deploy', 5_000)).dbChanges).toEqual({ hook: '{"id":1}' });
    const outcome = await run(sandbox);
    expect(outcome.status).toBe('threw');
    expect(outcome.dbChanges).toMatchObject({ a: '{"deep":[1]}', gone: null, nil: 'null' });
    expect(payloads(outcome)).toEqual([
      { n: 1 },
      expect.stringMatching(/"big".*62466 bytes.*60 KB/),
      expect.stringMatching(/"k\d+".*bytes.*1 MB/),
    ]);
    expect(payloads(await run(sandbox, { read: true }))).toEqual([[{ n: 1 }, null, { deep: [1] }, null, { id: 1 }]]);
  });

  it('assigns each log line to the run that wrote it, even with concurrent runs', async () => {
    const sandbox = await sandboxes.start(
      `export default { name: 't', version: '1', async run({ n }) { console.log('start %d', n, { n }); await new Promise((r) => setTimeout(r, 5)); console.error(n); process.stdout.write('out ' + n + '\\n'); } }`,
    );
    const outcomes = await Promise.all([1, 2, 3].map((n) => run(sandbox, { n })));
    outcomes.forEach(({ logs }, i) => {
      expect(logs.map(({ k, msg }) => [k, msg])).toEqual([
        ['console.log', `start ${i + 1} { n: ${i + 1} }`],
        ['console.error', String(i + 1)],
        ['console.log', `out ${i + 1}`],
      ]);
    });
  });

  it('runs up to `concurrency` at once, in order', async () => {
    const code = `let now = 0, most = 0; export default { name: 't', version: '1', async run({ n }) { most = Math.max(most, ++now); await new Promise((r) => setTimeout(r, 2)); now--; this.$emit({ n, most }) } }`;
    for (const concurrency of [1, 3]) {
      const sandbox = await sandboxes.start(code, { concurrency });
      const outcomes = await Promise.all(Array.from({ length: 100 }, (_, n) => run(sandbox, { n })));
      const last = payloads(outcomes[99] ?? (outcomes[0] as RunOutcome))[0];
      expect(last).toEqual({ n: 99, most: concurrency });
      const starts = outcomes.map(({ startedAt }) => startedAt);
      expect([...starts].sort((a, b) => a - b)).toEqual(starts);
    }
  });

  it('runs a hook concurrently with invocations, one hook at a time', async () => {
    const sandbox = await sandboxes.start(
      `let release; const waiting = new Promise((r) => { release = r }); let hooks = 0;
       export default { name: 't', version: '1', hooks: { async activate() { if (++hooks > 1) throw new Error('two at once'); await waiting; hooks-- }, async deactivate() { if (++hooks > 1) throw new Error('two at once') } }, async run() { release() } }`,
      { concurrency: 1 },
    );
    const hooks = [sandbox.hook('activate', 5_000), sandbox.hook('deactivate', 5_000)];
    expect((await run(sandbox)).status).toBe('ok');
    expect((await Promise.all(hooks)).map(({ status }) => status)).toEqual(['ok', 'ok']);
  });

  it('charges a stray error to the run that caused it, and to no other', async () => {
    const sandbox = await sandboxes.start(
      `export default { name: 't', version: '1', async run({ kind }) {
         if (kind === 'reject') { Promise.reject(new TypeError('forgotten')); await new Promise(() => {}) }
         if (kind === 'throw') { setTimeout(() => { throw new RangeError('in a timer') }); await new Promise(() => {}) }
         await new Promise((r) => setTimeout(r, 20)); this.$emit('fine') } }`,
    );
    const [fine, rejected, threw] = await Promise.all([
      run(sandbox),
      run(sandbox, { kind: 'reject' }),
      run(sandbox, { kind: 'throw' }),
    ]);
    expect(fine).toMatchObject({ status: 'ok', emits: [{ payload: '"fine"' }] });
    expect(rejected).toMatchObject({ status: 'threw', error: { name: 'TypeError', message: 'forgotten' } });
    expect(threw).toMatchObject({ status: 'threw', error: { name: 'RangeError', message: 'in a timer' } });
    expect(sandbox.alive()).toBe(true);
  });

  it.each([
    ['throw new TypeError("bad")', { name: 'TypeError', message: 'bad', code: 'TypeError' }],
    ['throw Object.assign(new Error("bad"), { code: "E_MINE" })', { name: 'Error', code: 'E_MINE' }],
    ['throw "text"', { name: 'Error', message: 'text' }],
    ['throw undefined', { name: 'Error', message: 'undefined' }],
    ['throw { get message() { throw 1 } }', { name: 'Error' }],
  ])('reports %s', async (body, error) => {
    expect(await once(body)).toMatchObject({ status: 'threw', error });
  });

  it('distinguishes a killed run, a run taken down with it, and a run that had not started', async () => {
    const sandbox = await sandboxes.start(
      `export default { name: 't', version: '1', async run({ hang }) { this.$emit(1); if (hang) for (;;); await new Promise((r) => setTimeout(r, 60000)) } }`,
      { concurrency: 2 },
    );
    const slow = sandbox.run({ invocationId: 'inv_slow', event: '{}', timeoutMs: 60_000 });
    const hang = sandbox.run({ invocationId: 'inv_hang', event: '{"hang":true}', timeoutMs: 200 });
    const later = sandbox.run({ invocationId: 'inv_later', event: '{}', timeoutMs: 200 });
    await expect(later).rejects.toBeInstanceOf(SandboxGone);
    expect(await hang).toMatchObject({ status: 'killed', error: { code: 'Timeout' }, emits: [{ payload: '1' }] });
    expect(await slow).toMatchObject({
      status: 'killed',
      error: { code: 'ProcessExited', message: expect.stringContaining('inv_hang') },
      emits: [{ payload: '1' }],
    });
    expect(sandbox.alive()).toBe(false);
    await expect(run(sandbox)).rejects.toBeInstanceOf(SandboxGone);
  });

  it('does not affect finished runs when another run of the same batch hangs', async () => {
    const sandbox = await sandboxes.start(
      `export default { name: 't', version: '1', async run({ hang }) { this.$emit(1); if (hang) for (;;); } }`,
      { concurrency: 1 },
    );
    const outcomes = [{}, {}, { hang: true }, {}].map((event) => run(sandbox, event, 200));
    const results = await Promise.allSettled(outcomes);
    expect(results.map((one) => (one.status === 'fulfilled' ? one.value.status : 'gone'))).toEqual([
      'ok',
      'ok',
      'killed',
      'gone',
    ]);
  });

  it('resolves runs in progress as killed when it is stopped, even twice', async () => {
    const sandbox = await sandboxes.start(
      `export default { name: 't', version: '1', run() { this.$emit('said'); this.http.respond({ immediate: true }); return new Promise(() => {}) } }`,
      { props: { http: { kind: 'http', endpoint: 'http://h/1' } } },
    );
    let going: Promise<RunOutcome> | undefined;
    await new Promise((resolve) => {
      going = sandbox.run({ invocationId: 'inv', event: '{}', timeoutMs: 60_000, onImmediateResponse: resolve });
    });
    await Promise.all([sandbox.stop(), sandbox.stop()]);
    expect(await going).toMatchObject({ status: 'killed', emits: [{ payload: '"said"' }] });
  });

  it.each([
    ['throw new TypeError("at load")', { code: 'TypeError', message: 'at load' }],
    ['for (;;);', { code: 'Timeout', message: expect.stringContaining('2000 ms') }],
    ['process.exit(3)', { code: 'ProcessExited' }],
    ['module.exports = 5', { code: 'TypeError' }],
  ])('rejects a start when the bundle does: %s', async (code, userError) => {
    const started = sandboxes.start(code);
    await expect(started).rejects.toBeInstanceOf(BundleNotLoaded);
    await expect(started).rejects.toMatchObject({ userError });
  });

  it('leaves no folder behind when it has ended', async () => {
    const sandbox = await sandboxes.start(`export default { name: 't', version: '1', run() {} }`);
    await sandbox.stop();
    const before = (await readdir('/proc/self/fd')).length;
    const again = await sandboxes.start(`export default { name: 't', version: '1', run() {} }`);
    await run(again);
    await again.stop();
    expect((await readdir('/proc/self/fd')).length).toBeLessThanOrEqual(before);
  });
});
