import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { parseSigningKey, standardSignature } from '#libs/delivery/signing.js';
import { type Data, type Source } from '#test/harness/api-client.js';
import { CLI, runNode, type Told } from '#test/harness/command-line.js';
import { componentCode, emitterCode } from '#test/harness/component-code.js';
import { type Door, doorTo } from '#test/harness/door.js';
import { useInstance } from '#test/harness/instance.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { eventually } from '#test/harness/wait.js';

const instance = useInstance();
const { api, server } = instance;
const dir = tempDir('author-follow');
afterAll(() => removeDir(dir));

const variables = (key = server.apiKey) => ({
  PATH: process.env.PATH ?? '',
  HOME: dir,
  TZ: 'UTC',
  SLUICE_API_KEY: key,
  SLUICE_URL: server.url,
});
const sluice = (...args: readonly string[]): Promise<Told> => runNode([CLI, ...args], variables(), dir);

const running: ChildProcess[] = [];
const doors: Door[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  for (const door of doors.splice(0)) door.close();
});

/** A command that goes on. */
const begin = (args: readonly string[], env: NodeJS.ProcessEnv = variables()) => {
  const child = spawn(process.execPath, [CLI, ...args], { env, cwd: dir });
  running.push(child);
  const told = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (told.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (told.err += chunk.toString()));
  const ended = once(child, 'close').then(([status]) => status as number | null);
  const lines = (): readonly string[] => told.out.split('\n').slice(0, -1);
  const until = (what: string, ready: () => boolean): Promise<true> =>
    eventually(what, () => (ready() ? true : undefined), 30_000);
  return {
    child,
    told,
    ended,
    lines,
    untilLines: (count: number) => until(`${count} lines of ${args.join(' ')}`, () => lines().length >= count),
    untilTold: (text: RegExp) => until(`${String(text)} of ${args.join(' ')}`, () => text.test(told.err)),
  };
};

let hello: Source;
beforeAll(async () => {
  hello = await instance.deploy(emitterCode(), {}, 'hello');
  await instance.post(hello, [[{ n: 0 }, { summary: 'None' }], [{ n: -1 }]]);
  await instance.history(hello, 2);
}, 120_000);
const emit = (source: Source, ...numbers: readonly number[]) =>
  instance.post(
    source,
    numbers.map((n) => [{ n }]),
  );
const numbersIn = (lines: readonly string[]): readonly number[] =>
  lines.map((line) => Number(/"n":(-?\d+)/.exec(line)?.[1] ?? Number.NaN));

/** The numbers are those of the checks of the command line. */
describe('following a source', () => {
  // docs/reference/command-line.md#follow
  it('38: begins with the history, and ends after so many more', async () => {
    const source = await instance.deploy(emitterCode(), {}, 'counted');
    await emit(source, 1, 2);
    await instance.history(source, 2);
    const command = begin(['events', 'counted', '-f', '--count', '3']);
    await command.untilLines(2);
    await emit(source, 3, 4, 5, 6);
    expect(await command.ended).toBe(0);
    expect(numbersIn(command.lines())).toEqual([1, 2, 3, 4, 5]);
    expect(command.told.err).toBe('');
  });

  it('37, 45: prints lines oldest first, in JSON with the digits of the server', async () => {
    const { stdout } = await sluice('events', 'hello', '-n', '2');
    expect(numbersIn(stdout.trimEnd().split('\n'))).toEqual([0, -1]);
    const command = begin(['events', 'hello', '-f', '-n', '1', '--count', '1', '--json']);
    await command.untilLines(1);
    const headers = { 'content-type': 'application/json', 'x-pd-notrigger': '1' };
    await instance.post(hello, '{"id":3544790567247868102}', headers);
    expect(await command.ended).toBe(0);
    expect(command.lines()[1]).toContain('{"id":3544790567247868102}');
  });

  it('43: ends with 0 at Ctrl-C, and after a time', async () => {
    const command = begin(['events', 'hello', '-f']);
    await command.untilLines(2);
    const startedAt = performance.now();
    command.child.kill('SIGINT');
    expect(await command.ended).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect((await sluice('events', 'hello', '-f', '--for', '1s')).status).toBe(0);
  });

  it('39: prints each event once over a restart of the server', async () => {
    const source = await instance.deploy(emitterCode(), {}, 'restarted');
    const door = await doorTo(() => server.url);
    doors.push(door);
    const command = begin(['events', 'restarted', '-f'], { ...variables(), SLUICE_URL: door.url });
    await eventually('the stream', async () => {
      if (command.lines().length > 0) return true;
      await emit(source, 100);
      return undefined;
    });
    await server.stop();
    await command.untilTold(/Connection lost\. Trying again in \d+ s\./);
    await server.start();
    const numbers = Array.from({ length: 20 }, (_, n) => n);
    for (const n of numbers) await emit(source, n);
    // A server that was away for longer is asked every 15 s.
    const printed = () => numbersIn(command.lines()).filter((n) => n < 100);
    await eventually('the events', () => (printed().length >= 20 ? true : undefined), 90_000);
    await command.untilTold(/Connected again\.\n/);
    expect(printed()).toEqual(numbers);
  }, 240_000);

  it('40, 41: notices that its server is silent, and tells what is no longer kept by then', async () => {
    const source = await instance.deploy(emitterCode(), {}, 'silent');
    const door = await doorTo(() => server.url);
    const command = begin(['events', 'silent', '-f'], { ...variables(), SLUICE_URL: door.url });
    await eventually('the stream', async () => {
      if (command.lines().length > 0) return true;
      await emit(source, 0);
      return undefined;
    });
    door.silence();
    await emit(source, ...Array.from({ length: 150 }, (_, n) => 1_000 + n));
    // It waits for 40 s.
    const lost = () => (command.told.err.includes('Connection lost. Trying again in 0 s.') ? true : undefined);
    await eventually('the silence', lost, 75_000);
    // The next request may use a connection from before, and that one is silent too.
    await command.untilTold(/Connected again/);
    expect(command.told.err).toMatch(/Connected again; events before \d\d:\d\d:\d\d are no longer kept\.\n/);
    await eventually('the newest', () => (numbersIn(command.lines()).at(-1) === 1_149 ? true : undefined));
    const printed = numbersIn(command.lines()).filter((n) => n >= 1_000);
    expect(printed).toEqual([...new Set(printed)].sort((a, b) => a - b));
    expect(printed.length).toBeLessThan(150);
  }, 180_000);

  it('42: ends with 4 when the source is deleted, and with 3 when the key is revoked', async () => {
    const source = await instance.deploy(emitterCode(), {}, 'leaving');
    const issued = await api.call<Data<{ id: string; key: string }>>('POST', '/v1/api_keys', { body: {} });
    const { id, key } = issued.body.data;
    const deleted = begin(['events', 'leaving', '-f']);
    const revoked = begin(['events', 'hello', '-f'], variables(key));
    await revoked.untilLines(2);
    await eventually('the stream', async () => {
      if (deleted.lines().length > 0) return true;
      await emit(source, 1);
      return undefined;
    });
    await api.call('DELETE', `/v1/sources/${source.id}`);
    await api.call('DELETE', `/v1/api_keys/${id}`);
    expect(await Promise.all([deleted.ended, revoked.ended])).toEqual([4, 3]);
    expect(deleted.told.err).toMatch(/sluice: there is no source dc_\w+ in your workspaces/);
  });

  it('44: forwards each event, signed with the key that it tells', async () => {
    const got: { headers: IncomingHttpHeaders; body: string }[] = [];
    const receiver = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        got.push({ headers: request.headers, body });
        response.writeHead(202).end('taken');
      });
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    try {
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
      const command = begin(['events', 'hello', '-f', '-n', '1', '--count', '2', '--forward', url]);
      await command.untilLines(1);
      const large = 'x'.repeat(5_000);
      await instance.post(hello, [[{ n: 1, large }], [{ n: 2 }]]);
      expect(await command.ended).toBe(0);
      const [, key = ''] = /^Signed with (whsec_\S+)\n/.exec(command.told.err) ?? [];
      expect(command.told.err.match(/^forwarded \d+-\d+: 202, \d+ ms$/gm)).toHaveLength(2);
      expect(got.map(({ body }) => JSON.parse(body) as unknown)).toEqual(
        expect.arrayContaining([{ n: 1, large }, { n: 2 }]),
      );
      for (const { headers, body } of got) {
        const [id, time] = [String(headers['webhook-id']), Number(headers['webhook-timestamp'])];
        const expected = standardSignature([parseSigningKey(key)], id, time, Buffer.from(body));
        expect(headers['webhook-signature']).toBe(expected);
        expect(headers['x-pd-emitter-id']).toBe(hello.id);
      }
    } finally {
      receiver.closeAllConnections();
      receiver.close();
    }
  });

  it('prints log lines with their kind, and errors with their name', async () => {
    const members = `run() { console.log('said', 7); throw new TypeError('wrong'); },`;
    const source = await instance.deploy(componentCode({ members }), {}, 'loud');
    const logs = begin(['logs', 'loud', '-f', '--count', '1']);
    const errors = begin(['errors', 'loud', '-f', '--count', '1']);
    await eventually('both', async () => {
      if (logs.lines().length > 0 && errors.lines().length > 0) return true;
      await instance.post(source, {});
      return undefined;
    });
    expect(await Promise.all([logs.ended, errors.ended])).toEqual([0, 0]);
    expect(logs.lines()[0]).toMatch(/Z {2}console\.log {2}.*said 7$/);
    expect(errors.lines()[0]).toMatch(/Z {2}TypeError {2}wrong {2}/);
  });

  it('prints errors of all sources, and events with a text', async () => {
    const members = `run() { throw new RangeError('of another'); },`;
    const source = await instance.deploy(componentCode({ members }), {}, 'another');
    await instance.post(source, {});
    const all = await eventually('the error', async () => {
      const { stdout } = await sluice('errors', '-n', '100');
      return stdout.includes('of another') ? stdout : undefined;
    });
    expect(all).toMatch(new RegExp(`Z {2}${source.id} {2}RangeError {2}of another {2}`));
    const found = await sluice('events', 'hello', '--q', 'NONE');
    expect(numbersIn(found.stdout.trimEnd().split('\n'))).toEqual([0]);
    const following = begin(['events', 'hello', '-f', '-n', '1', '--q', 'needle', '--count', '1']);
    await eventually('the text', async () => {
      await instance.post(hello, [[{ n: 7, text: 'Needle' }], [{ n: 8 }]]);
      return following.child.exitCode === null ? undefined : true;
    });
    expect(following.lines().at(-1)).toContain('Needle');
  });

  it.each([
    [['--count', '3'], /--count needs --follow/],
    [['-f', '--count', '0'], /--count must be an integer/],
    [['-f', '--for', 'ever'], /--for must be a time/],
    [['-f', '--forward', 'ftp://x'], /--forward must be an http or https address/],
  ])('refuses %j', async (args, text) => {
    const { status, stderr } = await sluice('events', 'hello', ...args);
    expect(status).toBe(2);
    expect(stderr).toMatch(text);
  });
});
