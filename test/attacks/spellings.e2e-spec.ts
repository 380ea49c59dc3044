import { readdirSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { CLI, runNode } from '#test/harness/command-line.js';
import { relayCode } from '#test/harness/component-code.js';
import { useStandalone } from '#test/harness/instance.js';
import { ROOT } from '#test/harness/paths.js';
import { eventually } from '#test/harness/wait.js';

const instance = useStandalone();
const { api, server } = instance;

interface RawAnswer {
  readonly status: number;
  readonly body: { readonly code?: string; readonly data?: { readonly id: string; readonly key?: string } };
}

/** Sends a request line that no HTTP client would normalise. */
const raw = (line: string, headers: readonly string[] = [], body = ''): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const { port, hostname } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('utf8').setTimeout(20_000, () => socket.destroy(new Error(`no answer to ${line}`)));
    socket.on('data', (chunk: string) => (text += chunk)).on('error', reject);
    socket.on('end', () => {
      const json = text.slice(text.indexOf('\r\n\r\n') + 4);
      const start = json.indexOf('{');
      const parsed =
        start === -1 ? {} : (JSON.parse(json.slice(start, json.lastIndexOf('}') + 1)) as RawAnswer['body']);
      resolve({ status: Number(text.split(' ')[1]), body: parsed });
    });
    const head = [
      `${line} HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      'Connection: close',
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...headers,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  });

const AUTHORIZED = `Authorization: Bearer ${server.apiKey}`;

/** Whether any file of the data directory holds the text, in UTF-8. */
const isOnDisk = (text: string): boolean =>
  readdirSync(server.dataDir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(server.dataDir, name))
    .filter((path) => statSync(path).isFile())
    .some((path) => readFileSync(path).includes(text));

// docs/reference/rest-api.md#secrets-in-replies
describe('a new API key whose request has an Idempotency-Key', () => {
  it.each(['/v1/api_keys', '/v1/%61pi_keys', '/v1/api_keys/', '/v1/%61%70%69_%6Bey%73&x=1'])(
    'is on no disk, however the path is spelt: %s',
    async (path) => {
      const idempotent = [AUTHORIZED, `Idempotency-Key: spelt-${path}`];
      const { status, body } = await raw(`POST ${path}`, idempotent, '{"name": "spelt"}');
      expect(status).toBe(200);
      const key = body.data?.key ?? '';
      expect(key).toMatch(/^sk_[0-9a-f]{40}$/);
      // (control) What is kept of the reply is on the disk.
      const id = body.data?.id ?? '';
      await eventually('the kept reply', () => Promise.resolve(isOnDisk(id) ? true : undefined));
      expect(isOnDisk(key)).toBe(false);
      const again = await raw(`POST ${path}`, idempotent, '{"name": "spelt"}');
      expect([again.status, again.body.data?.id, again.body.data?.key]).toEqual([200, id, undefined]);
    },
    30_000,
  );

  // docs/reference/rest-api.md#url-forms
  it.each([
    '/v1/API_KEYS',
    '/V1/api_keys',
    '/v1/%41pi_keys',
    '//v1/api_keys',
    '/v1//api_keys',
    '/v1/./api_keys',
    '/v1/x/../api_keys',
    '/v1\\api_keys',
    'http://any.example/v1/API_KEYS',
    '/v1/api_keys%00',
  ])('is not made by another spelling: %s', async (path) => {
    const before = (await api.expect<{ page_info: { total_count: number } }>(200, 'GET', '/v1/api_keys')).page_info;
    const { status } = await raw(`POST ${path}`, [AUTHORIZED, 'Idempotency-Key: other'], '{}');
    expect({ path, isRefused: status === 400 || status === 404 }).toEqual({ path, isRefused: true });
    const after = (await api.expect<{ page_info: { total_count: number } }>(200, 'GET', '/v1/api_keys')).page_info;
    expect(after.total_count).toBe(before.total_count);
  });
});

// docs/reference/rest-api.md#access-token-in-query
describe('a key in the address of a request', () => {
  it('is in no log line and in no answer, however it is written', async () => {
    const source = await instance.deploy(relayCode());
    const secret = 'S3cr3tToken';
    const made = `sk_${'ab'.repeat(20)}`;
    const stream = `/v1/sources/${source.id}/sse`;
    const paths = [
      `${stream}&access_token=${secret}`,
      `${stream};access_token=${secret}`,
      `${stream}%26access_token=${secret}`,
      `${stream}%3Faccess_token%3D${secret}`,
      `${stream}%253Faccess_token%253D${secret}`,
      `${stream}/access_token/${secret}`,
      `${stream}/access_token=${secret}`,
      `${stream}&a=1&access_token=${secret}/more`,
      `${stream}%ff%3Faccess_token=${secret}`,
      `/SSE&access_token=${secret}`,
      `/v1/nothing?access_token=${secret}`,
      `/v1/${made}`,
      `/v1/sources/${made}/sse`,
      `/v1/%73k_${made.slice(3)}/x`,
      `http://any.example/sse&access_token=${secret}`,
    ];
    for (const [n, path] of paths.entries()) {
      const answer = await raw(`GET ${path}`, [`X-Request-Id: spelt-${n}`]);
      expect({ path, told: JSON.stringify(answer.body).includes(secret) }).toEqual({ path, told: false });
    }
    // (control) Each of these requests has its line.
    await eventually('the lines', () =>
      Promise.resolve(paths.every((_, n) => server.lastOutput.includes(`"spelt-${n}"`)) ? true : undefined),
    );
    expect(server.lastOutput).not.toContain(secret);
    expect(server.lastOutput).not.toContain(made);
  });

  it('that belongs to an endpoint is masked where the API answers', async () => {
    const key = 'e0123456789abcde';
    await raw(`GET /v1/h/${key}/x`, ['X-Request-Id: endpoint-key']);
    await eventually('the line', () =>
      Promise.resolve(server.lastOutput.includes('"endpoint-key"') ? true : undefined),
    );
    expect(server.lastOutput).not.toContain(key);
  });
});

describe('a setting that is refused', () => {
  it.each([
    ['SLUICE_MONGO_URL', 'mongo://ada:S3cretWord@db'],
    ['SLUICE_EVENTSTORE_URL', 'https://ada:S3cretWord@a:2113,b:2113'],
    ['SLUICE_SMTP_URL', 'mail://ada:S3cretWord@mail'],
    ['SLUICE_NPM_REGISTRY', 'ftp://S3cretWord@npm.example'],
    ['SLUICE_KAFKA_BROKERS', 'ada:S3cretWord@broker:9092'],
    ['SLUICE_PUBLIC_URL', 'https://ada:S3cretWord@sluice.example'],
  ])('%s is named without its password, by the server and by the command line', async (name, given) => {
    const env = { PATH: process.env.PATH, [name]: given };
    const programs = [[join(ROOT, 'dist/apps/standalone/src/main.js')], [CLI, 'config']];
    for (const program of programs) {
      const { status, stdout, stderr } = await runNode(program, env, server.dataDir);
      expect({ program: program.at(-1), status: status === 0 }).toEqual({ program: program.at(-1), status: false });
      expect(stderr).toContain(name);
      expect(`${stdout}${stderr}`).not.toContain('S3cretWord');
    }
  });
});
