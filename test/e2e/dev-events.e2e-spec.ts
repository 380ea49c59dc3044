import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { type Data, type Source } from '#test/harness/api-client.js';
import { CLI, runNode } from '#test/harness/command-line.js';
import { componentCode, CUSTOM_HTTP, emitterCode, relayCode } from '#test/harness/component-code.js';
import { DevSession } from '#test/harness/dev-session.js';
import { type Door, doorTo } from '#test/harness/door.js';
import { useInstance } from '#test/harness/instance.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { eventually } from '#test/harness/wait.js';

const instance = useInstance();
const { api, server } = instance;
const dir = tempDir('dev-events');
afterAll(() => removeDir(dir));
writeFileSync(join(dir, 'package.json'), '{}');

const sessions: DevSession[] = [];
const doors: Door[] = [];
afterEach(async () => {
  for (const session of sessions.splice(0)) await session.end('SIGKILL');
  for (const door of doors.splice(0)) door.close();
});

let files = 0;
/** Develops a component on the server of these tests. */
const develop = (code: string, args: readonly string[] = [], url = server.url): DevSession => {
  const file = `component-${++files}.mjs`;
  writeFileSync(join(dir, file), code);
  const session = new DevSession(dir, [file, ...args], { SLUICE_API_KEY: server.apiKey, SLUICE_URL: url });
  sessions.push(session);
  return session;
};
const sourceOf = async (session: DevSession): Promise<Source> => {
  const { source_id: id } = await session.next('ready');
  return (await api.expect<Data<Source>>(200, 'GET', `/v1/sources/${String(id)}`)).data;
};
const listened = async (listener: Source): Promise<readonly string[]> => {
  const path = '/v1/users/me/subscriptions';
  const { data } = await api.expect<Data<readonly { emitter_id: string; listener_id: string }[]>>(200, 'GET', path);
  return data.filter(({ listener_id: id }) => id === listener.id).map(({ emitter_id: id }) => id);
};

// docs/reference/command-line.md#dev
describe('sluice dev with an API key', () => {
  it('tells each run once over a restart of the server', async () => {
    const door = await doorTo(() => server.url);
    doors.push(door);
    const session = develop(emitterCode(), [], door.url);
    const source = await sourceOf(session);
    await instance.post(source, [[{ n: -1 }]]);
    await session.next('emit');
    await server.stop();
    await session.untilTold(/Connection lost\. Trying again in \d+ s\./);
    await server.start();
    const numbers = [0, 1, 2, 3, 4];
    for (const n of numbers) await instance.post(source, [[{ n }]]);
    // A server that was away for longer is asked every 15 s.
    await session.untilTold(/Connected again\.\n/);
    await session.next('emit', 6);
    expect(session.of('emit').map(({ event }) => event)).toEqual([-1, ...numbers].map((n) => ({ n })));
    expect(session.of('run')).toHaveLength(6);
    expect(await session.end()).toBe(0);
  }, 240_000);

  it('tells what a run left: log lines, duplicates, the status and changed keys of the db', async () => {
    const session = develop(
      componentCode({
        props: `${CUSTOM_HTTP}, db: '$.service.db'`,
        members: `dedupe: 'unique',
          run({ body }) {
            for (const [key, value] of Object.entries(body.db)) this.db.set(key, value);
            this.$emit(body, { id: body.id });
            this.http.respond({ status: 201 });
          },`,
      }),
    );
    const source = await sourceOf(session);
    await instance.post(source, { id: 'a', db: { sum: 1, seen: ['a'] } });
    await session.next('reply');
    await instance.post(source, { id: 'a', db: { sum: 2, seen: ['a'] } });
    const [first, second] = [await session.next('run'), await session.next('run', 2)];
    await session.next('reply', 2);
    expect(session.of('reply').map(({ http_status: status }) => status)).toEqual([201, 201]);
    expect([first, second].map(({ kind, status, emits }) => [kind, status, emits])).toEqual([
      ['http', 'ok', 1],
      ['http', 'ok', 0],
    ]);
    expect(session.of('log')).toMatchObject([{ k: 'dedupe', msg: '1 duplicate event(s) dropped' }]);
    expect(session.of('db').map(({ id, key, value }) => [id, key, value])).toEqual([
      [first['id'], 'seen', ['a']],
      [first['id'], 'sum', 1],
      [second['id'], 'sum', 2],
    ]);
  }, 120_000);

  it('sends it what another source emits, until the end', async () => {
    const emitter = await instance.deploy(emitterCode(), {}, 'upstream');
    const session = develop(
      componentCode({ props: `db: '$.service.db'`, members: 'run(event) { this.$emit({ got: event }); },' }),
      ['--from', 'upstream', '--channel', 'orders'],
    );
    const source = await sourceOf(session);
    await instance.post(emitter, [[{ n: 1 }], [{ n: 2 }, { name: 'orders' }]]);
    expect(await session.next('run')).toMatchObject({ kind: 'emit' });
    expect(await session.next('emit')).toMatchObject({ event: { got: { n: 2 } } });
    expect(await listened(source)).toEqual([emitter.id]);
    expect(await session.end()).toBe(0);
    expect(await listened(source)).toEqual([]);
  }, 120_000);

  it('leaves a source the subscription that it had', async () => {
    const emitter = await instance.deploy(emitterCode());
    const listener = await instance.deploy(relayCode());
    await api.subscribe(emitter.id, listener.id);
    const session = develop(relayCode(), ['--from', emitter.id, '--source', listener.id]);
    await session.next('ready');
    expect(await session.end()).toBe(0);
    expect(await listened(listener)).toEqual([emitter.id]);
  }, 120_000);

  it('stops its source when there is no emitter of the name', async () => {
    const session = develop(relayCode(), ['--from', 'nothing', '--name', 'unheard']);
    await session.untilTold(/no source is called \\"nothing\\"/);
    expect(await session.ended()).toBe(4);
    const { data } = await api.expect<Data<Source>>(200, 'GET', '/v1/sources/unheard');
    expect(data.active).toBe(false);
  }, 120_000);

  it('leaves a component that was published with the same code', async () => {
    const code = relayCode();
    const file = join(dir, 'published.mjs');
    writeFileSync(file, code);
    const variables = {
      PATH: process.env.PATH ?? '',
      HOME: dir,
      SLUICE_API_KEY: server.apiKey,
      SLUICE_URL: server.url,
    };
    const published = await runNode([CLI, 'publish', file, '--json'], variables, dir);
    const { data } = JSON.parse(published.stdout) as Data<{ id: string }>;
    for (const change of ['first', 'second']) {
      writeFileSync(file, code);
      const session = new DevSession(dir, ['published.mjs'], variables);
      sessions.push(session);
      await session.next('ready');
      writeFileSync(file, `${code}// ${change}\n`);
      await session.next('updated');
      expect(await session.end()).toBe(0);
    }
    await api.expect(200, 'GET', `/v1/components/${data.id}`);
  }, 120_000);

  it('forwards its events of every channel whole, signed as webhooks are', async () => {
    const session = develop(emitterCode(), ['--forward', instance.receiver.url]);
    const source = await sourceOf(session);
    instance.receiver.trust((await session.untilTold(/whsec_\S+/)).trim());
    const large = 'x'.repeat(5_000);
    await instance.post(source, [[{ large }], [{ n: 2 }, { name: 'orders' }]]);
    await session.next('forwarded', 2);
    expect(session.of('forwarded')).toMatchObject([
      { status: 200, error: null, ms: expect.any(Number) },
      { status: 200, error: null, ms: expect.any(Number) },
    ]);
    const arrived = await eventually('both', () => {
      const bodies = instance.arrived('sluice-forward');
      return bodies.length >= 2 ? bodies : undefined;
    });
    expect(arrived).toEqual(expect.arrayContaining([{ large }, { n: 2 }]));
  }, 120_000);

  it.each([
    [['--channel', 'orders'], /--channel needs --from/],
    [['--forward', 'ftp://x'], /--forward must be an http or https address/],
    [['--keep', '--rm'], /give --keep or --rm, and not both/],
  ])('refuses %j', async (args, text) => {
    const session = develop(relayCode(), args);
    await session.untilTold(text);
    expect(await session.ended()).toBe(2);
  });

  it('refuses for an action what is for sources', async () => {
    const session = develop(`export default { type: 'action', key: 'a', name: 'A', version: '0.0.1', run() {} };`, [
      '--from',
      'upstream',
    ]);
    await session.untilTold(/--from is for sources, and component-\d+\.mjs has an action: leave it out/);
    expect(await session.ended()).toBe(2);
  });
});
