import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Source } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { ROOT } from '#test/harness/paths.js';
import { eventually } from '#test/harness/wait.js';

/**
 * Programs of the public kinds that use the original's API, written again in a few lines each
 * (test/fixtures/clients). They run as processes, and know the server by its address alone.
 */
const instance = useInstance();
const { api } = instance;

const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill();
});

class Client {
  private text = '';
  private readonly child: ChildProcess;
  private readonly ended: Promise<number | null>;

  constructor(
    readonly name: string,
    source: Source,
  ) {
    const env = {
      PATH: process.env['PATH'],
      API: instance.server.url,
      KEY: instance.server.apiKey,
      SOURCE: source.id,
    };
    this.child = spawn(process.execPath, ['--no-warnings', join(ROOT, `test/fixtures/clients/${name}.mjs`)], { env });
    running.push(this.child);
    for (const output of [this.child.stdout, this.child.stderr])
      output?.setEncoding('utf8').on('data', (text: string) => (this.text += text));
    this.ended = new Promise((resolve) => this.child.once('exit', resolve));
  }

  get lines(): readonly string[] {
    return this.text.split('\n').filter((line) => line !== '');
  }

  /** Lines of a program that ends. */
  async output(): Promise<readonly string[]> {
    const status = await this.ended;
    expect({ name: this.name, status, lines: this.lines }).toMatchObject({ status: 0 });
    return this.lines;
  }

  until(count: number): Promise<readonly string[]> {
    const isOver = (): boolean => this.lines.length >= count || this.child.exitCode !== null;
    return eventually(`${count} lines of ${this.name}`, () => (isOver() ? this.lines : undefined), 30_000);
  }
}

/** A source of HTTP requests as the original's: it emits the whole request. */
const httpSource = (name?: string): Promise<Source> =>
  instance.deploy(componentCode({ members: 'run(event) { this.$emit(event); },' }), {}, name);

const post = async (source: Source, body: unknown, path = '', headers: Record<string, string> = {}): Promise<void> => {
  const reply = await send(`${instance.endpoint(source)}${path}`, { body, headers });
  expect(reply.status).toBe(200);
};

// docs/reference/rest-api.md#stream-addresses
describe('a public client of streams', () => {
  const vote = { authorization: 'vote-secret', 'user-agent': 'Votes/1.0' };

  it.each([
    ['vote-bot', 'reward u1'],
    ['stream-lines', 'reward u1'],
    ['stream-sample', 'POST reward u1'],
  ])('works as it is: %s', async (name, line) => {
    const source = await httpSource();
    const client = new Client(name, source);
    expect(await client.until(1)).toEqual(['listening']);
    await post(source, { user: 'u1' }, '', vote);
    expect(await client.until(2)).toEqual(['listening', line]);
  });

  it('works as it is: stream-page', async () => {
    const source = await httpSource();
    const client = new Client('stream-page', source);
    expect(await client.until(1)).toEqual(['listening']);
    await post(source, { Name: 'Ada', PhoneContacts: [{ Number: '+44 1' }] });
    expect(await client.until(2)).toEqual(['listening', 'call Ada at +44 1']);
  });
});

describe('a public client of the lists of events', () => {
  // docs/reference/rest-api.md#event-records
  it('works as it is: last-request', async () => {
    const source = await httpSource();
    await post(source, { text: 'first' });
    await post(source, { text: 'x'.repeat(20_000) }, '/webhook/case');
    await instance.history(source, 2);
    expect(await new Client('last-request', source).output()).toEqual(['1: POST /webhook/case 20000']);
  });

  // docs/reference/rest-api.md#event-records
  it('works as it is: phone-numbers', async () => {
    const source = await httpSource();
    const people = Array.from({ length: 60 }, (_, n) => ({ id: `p${n}`, phone: `+44 ${'0'.repeat(20)}${n}` }));
    await post(source, { status: 'success', people });
    await post(source, { status: 'failed' });
    await instance.history(source, 2);
    const expected = people.map(({ id, phone }) => `${id}=${phone}`);
    expect(await new Client('phone-numbers', source).output()).toEqual(expected);
  });

  // docs/reference/rest-api.md#event-expand #events-delete
  it('works as it is: request-log', async () => {
    const source = await httpSource();
    await post(source, { text: 'y'.repeat(5_000) }, '', { referer: 'https://shop.example/' });
    await instance.history(source, 1);
    const lines = ['https://shop.example/ 5000', 'cleared 202, left 0'];
    expect(await new Client('request-log', source).output()).toEqual(lines);
  });
});

// docs/reference/rest-api.md#orgs-lists #source-id-or-slug
describe('a public client of organizations', () => {
  it('works as it is: team-overview', async () => {
    for (const { id } of (await api.expect<{ data: Source[] }>(200, 'GET', '/v1/users/me/sources')).data)
      await api.deleteSource(id);
    const source = await httpSource('Café Orders');
    await post(source, { n: 1 });
    await instance.history(source, 1);
    const line = 'cafe-orders: 1 events, 0 subscriptions, 1 members';
    expect(await new Client('team-overview', source).output()).toEqual([line]);
  });
});
