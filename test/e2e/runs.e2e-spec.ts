import { describe, expect, it } from '@jest/globals';
import { componentCode, CUSTOM_HTTP, emitterCode } from '#test/harness/component-code.js';
import { jsonOf } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
const { api } = instance;

describe('a manual run', () => {
  // docs/reference/rest-api.md#source-run
  it('answers 202, or 200 after the run with wait, and hands over the event given', async () => {
    const source = await instance.deploy(
      componentCode({ props: `db: '$.service.db'`, members: 'run(event) { this.$emit({ got: event }); },' }),
    );
    const path = `/v1/sources/${source.id}/run`;
    expect((await api.call('POST', path, { body: { event: { n: 1 } } })).status).toBe(202);
    expect((await api.call('POST', path, { body: { event: { n: 2 } }, query: { wait: 'true' } })).status).toBe(200);
    expect(await instance.payloads(source, 2)).toEqual([{ got: { n: 1 } }, { got: { n: 2 } }]);
  });

  // docs/reference/rest-api.md#source-run
  it('returns the output of the run, with wait', async () => {
    const source = await instance.deploy(
      componentCode({
        props: '',
        members: `run() { console.log('looked'); this.$emit(1); throw new Error('then fell'); },`,
      }),
    );
    const reply = await api.call('POST', `/v1/sources/${source.id}/run`, { query: { wait: 'true' } });
    expect(reply.status).toBe(200);
    expect(reply.text).toContain('looked');
    expect(reply.text).toContain('then fell');
    expect((await api.call('POST', '/v1/sources/dc_doesnotexist/run')).status).toBe(404);
    expect(reply.body).toMatchObject({
      data: {
        ended: true,
        status: 'threw',
        ms: expect.any(Number),
        emits: [{ event_name: '', event: 1, summary: null, dropped: null }],
      },
    });
  });

  // docs/reference/rest-api.md#source-run
  it('tells which emits were repeats, the same to a repeated request', async () => {
    const source = await instance.deploy(emitterCode(`dedupe: 'unique',`));
    const event = {
      body: [
        ['a', { id: 1 }],
        ['b', { id: 1 }],
      ],
    };
    const { body } = await api.call('POST', `/v1/sources/${source.id}/run`, { body: { event, wait: true } });
    expect(body).toMatchObject({
      data: {
        status: 'ok',
        emits: [
          { event: 'a', dropped: null },
          { event: 'b', dropped: 'dedupe' },
        ],
      },
    });
    const repeated = { body: { event, wait: true }, headers: { 'idempotency-key': 'once' } };
    const first = await api.call('POST', `/v1/sources/${source.id}/run`, repeated);
    expect((await api.call('POST', `/v1/sources/${source.id}/run`, repeated)).body).toEqual(first.body);
  });
});

describe('a module that awaits at its top', () => {
  it('runs, with what it awaited', async () => {
    const head = `const { EOL } = await import('node:os'); const word = await Promise.resolve('awaited' + EOL);`;
    const source = await instance.deploy(
      componentCode({ head, members: 'run(event) { this.$emit({ word, ...event.body }); },' }),
    );
    await instance.post(source, { n: 1 });
    expect(await instance.payloads(source, 1)).toEqual([{ word: 'awaited\n', n: 1 }]);
  });
});

describe('$.service.db', () => {
  it('returns copies, keeps JSON, deletes by undefined, and survives a throw', async () => {
    const code = componentCode({
      props: `${CUSTOM_HTTP}, db: '$.service.db'`,
      members: `run(event) {
        const { db } = this;
        if (event.body.step === 1) {
          const value = { list: [1, null, 'x'] };
          db.set('value', value);
          value.list.push('later');
          db.get('value').list.push('on a copy');
          db.set('gone', 1);
          db.set('gone', undefined);
          db.set('nothing', null);
          throw new Error('after set');
        }
        this.http.respond({ status: 200, body: [db.get('value'), String(db.get('gone')), db.get('nothing'), String(db.get('never'))] });
      },`,
    });
    const source = await instance.deploy(code);
    expect((await instance.post(source, { step: 1 })).status).toBe(500);
    expect(jsonOf(await instance.post(source, { step: 2 }))).toEqual([
      { list: [1, null, 'x'] },
      'undefined',
      null,
      'undefined',
    ]);
  });

  it('never races: invocations of one source with a db run one at a time, in order', async () => {
    const code = componentCode({
      props: `http: '$.interface.http', db: '$.service.db'`,
      members: `async run(event) {
        const n = this.db.get('n') ?? 0;
        await new Promise((r) => setTimeout(r, 5));
        this.db.set('n', n + 1);
        this.$emit({ n: n + 1, sent: event.body.sent });
      },`,
    });
    const source = await instance.deploy(code);
    await Promise.all(Array.from({ length: 40 }, (_, sent) => instance.post(source, { sent })));
    const events = (await instance.payloads(source, 40)) as { n: number; sent: number }[];
    expect(events.map(({ n }) => n)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
    expect(new Set(events.map(({ sent }) => sent)).size).toBe(40);
  });

  it('refuses a value above 60 KB by name, limit and size', async () => {
    const code = componentCode({
      props: `${CUSTOM_HTTP}, db: '$.service.db'`,
      members: `run() { this.db.set('heavy', 'x'.repeat(70_000)); },`,
    });
    const source = await instance.deploy(code);
    expect((await instance.post(source)).status).toBe(500);
    const [error] = await instance.history(source, 1, '$errors');
    expect(JSON.stringify(error?.event)).toMatch(/heavy/);
  });
});

describe('the environment of a component', () => {
  it('has its id, and nothing of the host, among its variables', async () => {
    const code = componentCode({
      props: CUSTOM_HTTP,
      members: 'run() { this.http.respond({ status: 200, body: process.env }); },',
    });
    const source = await instance.deploy(code);
    const environment = jsonOf(await instance.post(source)) as Record<string, string>;
    expect(environment.PD_COMPONENT).toBe(source.id);
    expect(Object.keys(environment).filter((name) => name.startsWith('SLUICE_'))).toEqual([]);
    expect(JSON.stringify(environment)).not.toContain(instance.server.apiKey);
  });

  it('binds methods to the component, also when passed around', async () => {
    const code = componentCode({
      props: `${CUSTOM_HTTP}, greeting: { type: 'string', default: 'hi' }`,
      members: `methods: { greet(name) { return this.greeting + ' ' + name; } },
        run() { const { greet } = this; this.http.respond({ status: 200, body: ['a', 'b'].map(greet) }); },`,
    });
    expect(jsonOf(await instance.post(await instance.deploy(code)))).toEqual(['hi a', 'hi b']);
  });

  it('starts every run with a fresh object', async () => {
    const code = componentCode({
      props: CUSTOM_HTTP,
      members:
        'run() { this.count = (this.count ?? 0) + 1; this.http.respond({ status: 200, body: { count: this.count } }); },',
    });
    const source = await instance.deploy(code);
    for (let n = 0; n < 2; n++) expect(jsonOf(await instance.post(source))).toEqual({ count: 1 });
  });
});
