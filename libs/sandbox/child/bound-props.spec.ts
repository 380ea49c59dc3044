import { describe, expect, it } from '@jest/globals';
import { type BoundProp } from '../sandbox.js';
import { BoundComponent, type ComponentObject, type PropTools } from './component.js';
import { Execution } from './execution.js';
import { LateWork } from './late-work.js';
import { SourceDb } from './source-db.js';
import { Waiting } from './waiting.js';

const nothing = (): void => undefined;
const uplink = { send: nothing, spill: nothing, flush: nothing, flushIfOlderThan: nothing };
const execution = (): Execution =>
  new Execution(1, uplink, new SourceDb({ old: '1' }), new Waiting(), new LateWork(uplink), nothing);

type This = Readonly<Record<string, unknown>>;
const bound = (
  definition: unknown,
  prop: BoundProp,
  tools: Partial<PropTools> = {},
  over: Partial<ComponentObject> = {},
): { fresh: () => This } => {
  const component: ComponentObject = { name: 'n', run: () => undefined, props: { p: definition }, ...over };
  const one = new BoundComponent(component, { p: prop }, { tmp: '/tmp', ...tools });
  return { fresh: () => one.thisOf(execution()) };
};
const value = (given: unknown): BoundProp => ({ kind: 'value', value: given });

describe('this.<prop>', () => {
  it.each<[string, unknown, unknown]>([
    ['string', 'a', 'a'],
    ['integer', 0, 0],
    ['boolean', false, false],
    ['string[]', ['a'], ['a']],
    ['integer[]', [1], [1]],
    ['object', { a: [1] }, { a: [1] }],
    ['any', null, null],
    ['$.airtable.baseId', 'app1', 'app1'],
  ])('of type %s is the value %j', (type, given, expected) => {
    expect(bound({ type }, value(given)).fresh().p).toEqual(expected);
  });

  it.each<[unknown, unknown, unknown]>([
    [{ label: 'One', value: 1 }, 1, { label: 'One', value: 1 }],
    [
      [
        { label: 'A', value: 'a' },
        { label: 'B', value: 'b' },
      ],
      ['a', 'b'],
      [
        { label: 'A', value: 'a' },
        { label: 'B', value: 'b' },
      ],
    ],
    [[], [], []],
  ])('chosen by label as %j is %j, and with withLabel %j', (chosen, bare, labelled) => {
    expect(bound({ type: 'any' }, value({ __lv: chosen })).fresh().p).toEqual(bare);
    expect(bound({ type: 'any', withLabel: true }, value({ __lv: chosen })).fresh().p).toEqual(labelled);
  });

  it('has withLabel of its propDefinition, which the prop may override', () => {
    const app = { type: 'app', app: 'a', propDefinitions: { item: { type: 'string', withLabel: true } } };
    const chosen = value({ __lv: { label: 'One', value: '1' } });
    const reference = { propDefinition: [app, 'item'] };
    expect(bound(reference, chosen).fresh().p).toEqual({ label: 'One', value: '1' });
    expect(bound({ ...reference, withLabel: false }, chosen).fresh().p).toBe('1');
  });

  it('is a copy in each execution, which another one does not change', () => {
    for (const prop of [value({ list: [1] }), { kind: 'request', value: { url: 'https://a.example' } } as BoundProp]) {
      const { fresh } = bound({ type: 'object' }, prop);
      const before = JSON.stringify(fresh().p);
      Object.assign(fresh().p as object, { list: 'changed', url: 'changed' });
      expect(JSON.stringify(fresh().p)).toBe(before);
    }
  });

  it('wins over a method of its name', () => {
    const { fresh } = bound({ type: 'string' }, value('prop'), {}, { methods: { p: () => 'method' } });
    expect(fresh().p).toBe('prop');
  });

  it('of a timer has the interval under both names, or the cron', () => {
    const timer = (intervalSeconds: number | null, cron: string | null): unknown =>
      bound('$.interface.timer', { kind: 'timer', intervalSeconds, cron }).fresh().p;
    expect(timer(60, null)).toEqual({ type: '$.interface.timer', intervalSeconds: 60, interval_seconds: 60 });
    expect(timer(null, '* * * * *')).toEqual({ type: '$.interface.timer', cron: '* * * * *' });
  });

  it('of an HTTP interface has endpoint and respond; of a db get and set; of a dir the folder', () => {
    const http = bound('$.interface.http', { kind: 'http', endpoint: 'http://host/h/e1' }).fresh().p;
    expect(http).toEqual({ endpoint: 'http://host/h/e1', respond: expect.any(Function) });
    const db = bound('$.service.db', { kind: 'db' }).fresh().p as { get(key: string): unknown };
    expect([Object.keys(db), db.get('old'), db.get('new')]).toEqual([['get', 'set'], 1, undefined]);
    expect(bound({ type: 'dir' }, { kind: 'dir' }, { tmp: '/tmp/own' }).fresh().p).toBe('/tmp/own');
  });

  it('of an app has its methods bound, $auth, and no props of the component', () => {
    const app = {
      type: 'app',
      app: 'a',
      methods: {
        key(this: { $auth: { api_key: string }; p: unknown }) {
          return [this.$auth.api_key, this.p];
        },
      },
    };
    const { key, $auth } = bound(app, { kind: 'app', auth: { api_key: 'k' } }).fresh().p as {
      key: () => unknown;
      $auth: unknown;
    };
    expect([key(), $auth]).toEqual([['k', undefined], { api_key: 'k' }]);
    const none = bound(app, { kind: 'app', auth: {} }).fresh().p as { key: () => unknown };
    expect(none.key()).toEqual([undefined, undefined]);
  });
});

describe('an http_request prop', () => {
  const url = 'https://a.example';

  it('sends what the run made of it, by assignment and in place, and the next run starts from what is configured', async () => {
    interface Request {
      url: string;
      headers: unknown[];
      body: unknown;
      execute: () => Promise<unknown>;
    }
    const sent: unknown[] = [];
    const sendRequest = async (request: unknown, isForm: boolean): Promise<unknown> =>
      sent.push([structuredClone({ ...(request as object) }), isForm]);
    const configured = { url: `${url}/:id`, headers: [{ name: 'a' }], body: { type: 'none' } };
    const request = { kind: 'request', value: configured } as BoundProp;
    const { fresh } = bound({ type: 'http_request' }, request, { sendRequest });
    const p = fresh().p as Request;
    p.url = p.url.replace(':id', '7');
    p.headers.push({ name: 'b', value: 1 });
    Object.assign(p.body as object, { type: 'raw', raw: 'r' });
    const { execute } = p;
    await execute();
    p.body = { any: 1 };
    await execute();
    await (fresh().p as Request).execute();
    const changed = { url: `${url}/7`, headers: [{ name: 'a' }, { name: 'b', value: 1 }] };
    expect(sent).toEqual([
      [{ ...changed, body: { type: 'raw', raw: 'r' } }, true],
      [{ ...changed, body: { any: 1 } }, false],
      [configured, true],
    ]);
    expect(Object.keys(p)).toEqual(['url', 'headers', 'body']);
  });

  it('that was deployed before requests could be sent has its value, and execute() tells what to do', async () => {
    const p = bound({ type: 'http_request' }, value({ url })).fresh().p as {
      url: string;
      execute: () => Promise<unknown>;
    };
    expect(p.url).toBe(url);
    await expect(p.execute()).rejects.toThrow(
      'http_request: execute() cannot send this request: update the source once with PUT /v1/sources/{id}',
    );
  });
});
