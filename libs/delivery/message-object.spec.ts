import { createHash, createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Agent } from 'undici';
import { type ObjectMessage, type SentMessage } from '#libs/stream-log/message-records.js';
import { type MessageAttempt } from './message-attempt.js';
import { type OpenBucket } from './message-object.js';
import { messageSender } from './message-senders.js';
import { type HttpSink, startSink } from './testing/http-sink.js';
import { answerOk, answerWith } from './testing/worker-harness.js';

const NOW = Date.parse('2026-03-09T08:07:06.543Z');
const KEY = { region: 'eu-central-1', accessKeyId: 'AKIA0', secretAccessKey: 'S3cret/+Word' };

let agent: Agent;
let closes: (() => Promise<unknown>)[];
let said: unknown[];
beforeEach(() => {
  [agent, closes, said] = [new Agent(), [], []];
});
afterEach(async () => {
  await Promise.all(closes.map((close) => close()));
  await agent.destroy();
});

const storage = async (...args: Parameters<typeof startSink>): Promise<HttpSink & { readonly endpoint: string }> => {
  const sink = await startSink(...args);
  closes.push(() => sink.close());
  return { ...sink, endpoint: new URL(sink.url).origin };
};

const object = (key: string, payload = '{"größe":1}'): ObjectMessage => ({ kind: 's3', bucket: 'b', key, payload });

const send = async (endpoint: string, message: ObjectMessage, workspaceId = 'o_1'): Promise<MessageAttempt> => {
  const origin = { workflowId: 'p_1', runId: 'run_1', namespace: 'a', execution: 1, index: 0 };
  const sent: SentMessage = { ...origin, id: 'snd_1', workspaceId, attempt: 1, message };
  const bucketOf = (bucket: string, workspace: string): OpenBucket | undefined =>
    workspace === 'o_1' ? { bucket, endpoint, ...KEY } : undefined;
  const logger = { warn: (...line: unknown[]) => void said.push(line) };
  const objects = { bucketOf, dispatcher: agent, logger };
  const sender = messageSender({ dispatcher: agent, email: undefined, objects, clock: { now: () => NOW } });
  return sender(sent);
};

/** AWS Signature Version 4 of a PUT, as its specification has it, written without the library. */
const signatureOf = (path: string, host: string, payload: string): string => {
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
  const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
  const [date, time] = ['20260309', '20260309T080706Z'];
  const headers = [
    `host:${host}`,
    `x-amz-content-sha256:${sha256(payload)}`,
    `x-amz-date:${time}`,
    'x-amz-meta-pd-send-id:snd_1',
  ];
  const names = headers.map((line) => line.slice(0, line.indexOf(':'))).join(';');
  const canonical = ['PUT', path, '', ...headers, '', names, sha256(payload)].join('\n');
  const scope = `${date}/${KEY.region}/s3/aws4_request`;
  const steps = [date, KEY.region, 's3', 'aws4_request'];
  const key = steps.reduce<string | Buffer>((signing, step) => hmac(signing, step), `AWS4${KEY.secretAccessKey}`);
  const signature = hmac(key, ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')).toString('hex');
  return `AWS4-HMAC-SHA256 Credential=AKIA0/${scope}, SignedHeaders=${names}, Signature=${signature}`;
};

// docs/reference/workflows.md#send-s3
describe('an object of a workflow', () => {
  it.each([
    ['a/2026/x.json', '/b/a/2026/x.json'],
    [
      "a b+c/(d)*!'/é%/x?y#z&=;:@,~$.json",
      '/b/a%20b%2Bc/%28d%29%2A%21%27/%C3%A9%25/x%3Fy%23z%26%3D%3B%3A%40%2C~%24.json',
    ],
    ['a\\b/…/x.json', '/b/a%5Cb/%E2%80%A6/x.json'],
  ])('of the key %j is written with a signature of its content', async (key, path) => {
    const { endpoint, received } = await storage(answerOk);
    expect(await send(endpoint, object(key))).toEqual({
      outcome: { kind: 'response', status: 200 },
      status: 200,
      error: null,
    });
    const host = new URL(endpoint).host;
    const authorization = signatureOf(path, host, '{"größe":1}');
    expect(received).toMatchObject([
      { url: path, body: '{"größe":1}', headers: { authorization, host, 'content-type': 'application/json' } },
    ]);
    expect(received[0]?.headers).toMatchObject({ 'x-amz-meta-pd-send-id': 'snd_1', 'content-length': '13' });
  });

  it('goes below the path of an endpoint', async () => {
    const { endpoint, received } = await storage(answerOk);
    await send(`${endpoint}/storage/v1/s3`, object('x.json'));
    const path = '/storage/v1/s3/b/x.json';
    const authorization = signatureOf(path, new URL(endpoint).host, '{"größe":1}');
    expect(received).toMatchObject([{ url: path, headers: { authorization } }]);
  });

  it('fails with the code of the storage, and with nothing else of its answer', async () => {
    const text = '<Error><Code>InvalidAccessKeyId</Code><AWSAccessKeyId>AKIA0</AWSAccessKeyId></Error>';
    const { endpoint } = await storage((_, response) => void response.writeHead(403).end(text));
    const outcome = { kind: 'response', status: 403 };
    const error = 'status 403: InvalidAccessKeyId';
    expect(await send(endpoint, object('x'))).toEqual({ outcome, status: 403, error });
  });

  it('fails without a code where there is none', async () => {
    const { endpoint } = await storage(answerWith(503));
    expect(await send(endpoint, object('x'))).toMatchObject({ status: 503, error: 'status 503' });
  });

  it('shows the author no address of a storage that cannot be reached, and its operator why', async () => {
    const { endpoint, close } = await storage(answerOk);
    await close();
    expect(await send(endpoint, object('x'))).toEqual({
      outcome: { kind: 'error', error: 'ECONNREFUSED' },
      status: null,
      error: 'the object storage does not answer now',
    });
    expect(said).toMatchObject([[{ message: 'snd_1', bucket: 'b', error: 'ECONNREFUSED' }, expect.anything()]]);
  });

  it('is not written to a bucket that is not open to the workspace', async () => {
    const { endpoint, received } = await storage(answerOk);
    const refused = { outcome: { kind: 'refused' }, status: null, error: 'the bucket is not open to this workspace' };
    expect(await send(endpoint, object('x'), 'o_2')).toEqual(refused);
    expect(received).toEqual([]);
  });
});
