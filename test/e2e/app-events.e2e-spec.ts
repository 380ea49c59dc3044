import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiClient, type Data, type ErrorBody, type Source } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { addWorkspace } from '#test/harness/second-workspace.js';

const instance = useInstance();
const { api, server } = instance;

interface Sent {
  readonly invocations: readonly { readonly id: string; readonly source_id: string }[];
  readonly refused: readonly unknown[];
}
type SentReply = Data<Sent> & { readonly warnings?: readonly { readonly code: string; readonly message: string }[] };

const send = (app: string, body: object, client: ApiClient = api): Promise<SentReply> =>
  client.expect<SentReply>(202, 'POST', `/v1/apps/${app}/events`, { body: { ...body } });
const reached = async (app: string, body: object): Promise<readonly string[]> =>
  (await send(app, { payload: {}, ...body })).data.invocations.map(({ source_id }) => source_id).sort();

/** Takes events of an app; `eventNames` is source text. */
const hooked = (app: string, eventNames?: string): string =>
  componentCode({
    props: `chat: { type: 'app', app: '${app}' }, word: { type: 'string', optional: true },
      hook: { type: '$.interface.apphook', appProp: 'chat'${eventNames === undefined ? '' : `, ${eventNames}`} }`,
    members: `run(event) { this.$emit({ event, hook: typeof this.hook }); },`,
  });
const account = async (app: string): Promise<string> => {
  const body = { app, credentials: { key: 'secret-key' } };
  return (await api.expect<Data<{ id: string }>>(200, 'POST', '/v1/accounts', { body })).data.id;
};

describe('an event of an app', () => {
  // docs/reference/rest-api.md#app-events #app-events-reply
  it('runs the sources that name it, with the payload as event, and no others', async () => {
    const named = await instance.deploy(hooked('chat-a', `eventNames: ['message', 'reaction']`));
    const every = await instance.deploy(hooked('chat-a'));
    const other = await instance.deploy(hooked('chat-b', `eventNames: ['message']`));
    const payload = { text: 'hi', deep: [{ n: 1 }] };
    const { data, warnings } = await send('chat-a', { event_name: 'message', payload });
    expect(warnings).toBeUndefined();
    expect(data.refused).toEqual([]);
    expect(data.invocations.map(({ source_id }) => source_id).sort()).toEqual([named.id, every.id].sort());
    expect(data.invocations.every(({ id }) => id.startsWith('inv_'))).toBe(true);
    for (const source of [named, every])
      expect(await instance.payloads(source, 1)).toEqual([{ event: payload, hook: 'undefined' }]);
    expect(await reached('chat-a', { event_name: 'joined' })).toEqual([every.id]);
    expect((await api.summaries(other.id)).data).toEqual([]);
  });

  it('may have any JSON as payload', async () => {
    const source = await instance.deploy(hooked('chat-json'));
    for (const payload of [null, 'text', [1], 0]) await send('chat-json', { event_name: 'x', payload });
    const events = (await instance.payloads(source, 4)) as { event: unknown }[];
    expect(events.map(({ event }) => event)).toEqual([null, 'text', [1], 0]);
  });

  // docs/reference/rest-api.md#app-events-repeat
  it('that is sent again runs the source again, and dedupe by an id of the payload drops it', async () => {
    const plain = await instance.deploy(hooked('chat-twice'));
    const deduped = await instance.deploy(
      componentCode({
        props: `chat: { type: 'app', app: 'chat-twice' }, hook: { type: '$.interface.apphook', appProp: 'chat' }`,
        members: `dedupe: 'unique', run(event) { this.$emit(event, { id: event.id }); },`,
      }),
    );
    for (const id of [1, 1, 2]) await send('chat-twice', { event_name: 'x', payload: { id } });
    expect(await instance.payloads(deduped, 2)).toEqual([{ id: 1 }, { id: 2 }]);
    const events = await instance.history(plain, 3);
    expect(new Set(events.map(({ metadata }) => metadata.emit_id)).size).toBe(3);
  });

  // docs/reference/rest-api.md#app-events-reply
  it('that nobody takes is a warning', async () => {
    await instance.deploy(hooked('chat-c', `eventNames: ['message']`));
    for (const [app, event_name] of [
      ['chat-c', 'Message'],
      ['chat-none', 'message'],
    ] as const) {
      const { data, warnings } = await send(app, { event_name, payload: 1 });
      expect(data).toEqual({ invocations: [], refused: [] });
      expect(warnings).toEqual([
        {
          code: 'no_source',
          message: `no active source of this workspace takes the event "${event_name}" of the app "${app}", so nothing runs`,
          path: 'event_name',
        },
      ]);
    }
  });

  // docs/reference/rest-api.md#app-events
  it('with an account runs only the sources with that account', async () => {
    const [first, second] = [await account('chat-d'), await account('chat-d')];
    const deploy = (id: string) => instance.deploy(hooked('chat-d'), { chat: { authProvisionId: id } });
    const [one, two] = [await deploy(first), await deploy(second)];
    const none = await instance.deploy(hooked('chat-d'));
    expect(await reached('chat-d', { event_name: 'x', account_id: first })).toEqual([one.id]);
    expect(await reached('chat-d', { event_name: 'x' })).toEqual([one.id, two.id, none.id].sort());
    await api.call('PUT', `/v1/sources/${one.id}`, {
      body: { configured_props: { chat: { authProvisionId: second } } },
    });
    expect(await reached('chat-d', { event_name: 'x', account_id: first })).toEqual([]);
    expect(await reached('chat-d', { event_name: 'x', account_id: second })).toEqual([one.id, two.id].sort());
  });

  it('reaches no source that is off or deleted', async () => {
    const source = await instance.deploy(hooked('chat-e'));
    const turn = (active: boolean) => api.expect(200, 'PUT', `/v1/sources/${source.id}`, { body: { active } });
    await turn(false);
    expect(await reached('chat-e', { event_name: 'x' })).toEqual([]);
    await turn(true);
    expect(await reached('chat-e', { event_name: 'x' })).toEqual([source.id]);
    await api.deleteSource(source.id);
    expect(await reached('chat-e', { event_name: 'x' })).toEqual([]);
  });

  it.each<[object, string, string]>([
    [{ payload: 1 }, 'missing_parameter', 'parameter event_name is missing'],
    [{ event_name: 'x' }, 'missing_parameter', 'parameter payload is missing'],
    [{ event_name: '', payload: 1 }, 'invalid_parameter', 'event_name'],
    [{ event_name: 'x'.repeat(201), payload: 1 }, 'invalid_parameter', '200'],
    [{ event_name: 'x', account_id: 7, payload: 1 }, 'invalid_parameter', 'account_id'],
  ])('is refused when it is wrong: %j', async (body, code, words) => {
    const path = '/v1/apps/chat-a/events';
    const refused = await api.call<ErrorBody>('POST', path, { body: { ...body } });
    expect([refused.status, refused.body]).toMatchObject([400, { code, error: expect.stringContaining(words) }]);
  });

  it('is refused when its payload is larger than the body of an endpoint may be', async () => {
    const body = { event_name: 'x', payload: 'x'.repeat(512 * 1024) };
    const refused = await api.call<ErrorBody>('POST', '/v1/apps/chat-a/events', { body });
    expect([refused.status, refused.body.error]).toEqual([
      413,
      expect.stringContaining('payload has 524290 bytes, the limit is 524288'),
    ]);
  });
});

describe('eventNames as a function', () => {
  const BY_WORD = `async eventNames() {
    if (this.word === 'throw') throw Object.assign(new Error('choose a channel'), { name: 'ConfigurationError' });
    if (this.word === 'number') return 7;
    if (this.word === 'mixed') return ['a', { b: 1 }];
    if (this.word === 'empty') return [];
    if (this.word === 'many') return Array.from({ length: 1001 }, (_, n) => 'e' + n);
    return this.word === undefined ? undefined : [this.word, this.word];
  }`;

  it('uses the current props, at deployment and at each update', async () => {
    const source = await instance.deploy(hooked('words', BY_WORD), { word: 'first' });
    expect(await reached('words', { event_name: 'first' })).toEqual([source.id]);
    const update = (configured_props: object) =>
      api.expect<{ warnings?: { code: string }[] }>(200, 'PUT', `/v1/sources/${source.id}`, {
        body: { configured_props },
      });
    await update({ word: 'second' });
    expect(await reached('words', { event_name: 'first' })).toEqual([]);
    expect(await reached('words', { event_name: 'second' })).toEqual([source.id]);
    const { configured_props: shown } = await api.getSource(source.id);
    expect(shown).toEqual({ word: 'second', hook: { app: 'words', event_names: ['second'] } });
    await update(shown);
    expect(await reached('words', { event_name: 'second' })).toEqual([source.id]);
    await update({ word: null });
    expect(await reached('words', { event_name: 'anything' })).toEqual([source.id]);
    expect((await update({ word: 'empty' })).warnings).toMatchObject([
      { code: 'silent_interface', message: expect.stringContaining('names no event') },
    ]);
    expect(await reached('words', { event_name: 'anything' })).toEqual([]);
  });

  it.each([
    ['throw', 'eventNames of prop hook failed: ConfigurationError: choose a channel'],
    ['number', 'eventNames of prop hook must return a list of texts, not a number'],
    ['mixed', 'eventNames of prop hook must return a list of texts; entry 1 is an object'],
    ['many', 'eventNames of prop hook returned 1001 names, at most 1000 are allowed'],
  ])('is refused when it fails: %s', async (word, error) => {
    const component_code = hooked('words-refused', BY_WORD);
    const body = { component_code, configured_props: { word } };
    const refused = await api.call<ErrorBody>('POST', '/v1/sources', { body });
    expect([refused.status, refused.body]).toMatchObject([422, { code: 'event_names_failed', error }]);
    const source = await instance.deploy(hooked('words-kept', BY_WORD), { word: 'kept' });
    const path = `/v1/sources/${source.id}`;
    expect((await api.call('PUT', path, { body: { configured_props: { word } } })).status).toBe(422);
    expect(await reached('words-kept', { event_name: 'kept' })).toContain(source.id);
    await api.deleteSource(source.id);
  });
});

describe('an apphook of additionalProps', () => {
  it('takes the events that its function names', async () => {
    const code = componentCode({
      props: `app: { type: 'app', app: 'late' }, by: { type: 'string', reloadProps: true }`,
      members: `additionalProps() {
          return { hook: { type: '$.interface.apphook', appProp: 'app', eventNames() { return [this.by]; } } };
        }, run(event) { this.$emit(event); },`,
    });
    const source = await instance.deploy(code, { by: 'joined' });
    expect(await reached('late', { event_name: 'joined' })).toEqual([source.id]);
    expect(await reached('late', { event_name: 'left' })).toEqual([]);
  });
});

describe('an apphook that names no app', () => {
  it('is deployed with a warning and stays silent', async () => {
    const component_code = componentCode({
      props: `app: { type: 'app', app: 'silent' }, hook: { type: '$.interface.apphook', appProp: 'ap' }`,
      members: 'run() {},',
    });
    const { warnings } = await api.expect<{ warnings: { code: string; path: string }[] }>(200, 'POST', '/v1/sources', {
      body: { component_code },
    });
    expect(warnings.map(({ code, path }) => [code, path])).toEqual([
      ['no_account', 'configured_props.app'],
      ['silent_interface', 'props.hook'],
    ]);
    expect(await reached('silent', { event_name: 'x' })).toEqual([]);
  });
});

describe('after a restart', () => {
  let stranger: ApiClient;
  let source: Source;
  beforeAll(async () => {
    source = await instance.deploy(hooked('restarted', `eventNames() { return ['x']; }`));
    ({ api: stranger } = await addWorkspace({ server }, 'carol'));
  }, 400_000);
  afterAll(() => stranger.close());

  it('the same sources get the event', async () => {
    expect(await reached('restarted', { event_name: 'x' })).toEqual([source.id]);
    expect(await reached('restarted', { event_name: 'y' })).toEqual([]);
    expect(await instance.payloads(source, 1)).toEqual([{ event: {}, hook: 'undefined' }]);
  });

  it('an event of another workspace reaches none of them', async () => {
    const foreign = await send('restarted', { event_name: 'x', payload: 'foreign' }, stranger);
    expect(foreign.data).toEqual({ invocations: [], refused: [] });
    expect(foreign.warnings).toMatchObject([{ code: 'no_source' }]);
    const own = await stranger.createSource({ component_code: hooked('restarted') });
    const answer = await send('restarted', { event_name: 'x', payload: 'own' }, stranger);
    expect(answer.data.invocations.map(({ source_id }) => source_id)).toEqual([own.id]);
    expect(JSON.stringify(await api.summaries(source.id, { expand: 'event' }))).not.toContain('foreign');
  });
});

describe('a kill after the reply', () => {
  it('loses no event', async () => {
    const source = await instance.deploy(
      componentCode({
        props: `app: { type: 'app', app: 'killed' }, hook: { type: '$.interface.apphook', appProp: 'app' }`,
        members: 'async run(event) { await new Promise((r) => setTimeout(r, 400)); this.$emit(event); },',
      }),
    );
    for (let n = 0; n < 3; n++) await send('killed', { event_name: 'x', payload: { n } });
    await server.kill9();
    await server.start();
    const ran = (await instance.payloads(source, 3)) as { n: number }[];
    expect([...new Set(ran.map(({ n }) => n))].sort()).toEqual([0, 1, 2]);
  }, 400_000);
});
