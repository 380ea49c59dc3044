import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createEgress, type Egress } from './guarded-dispatcher.js';
import { postForm } from './post-form.js';

describe('postForm', () => {
  let server: Server;
  let base: string;
  let egress: Egress;
  let handler: RequestListener;

  beforeEach(async () => {
    server = createServer((req, res) => handler(req, res));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    egress = createEgress({ allow: ['127.0.0.1'] });
  });

  afterEach(async () => {
    await egress.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const post = (url: string): ReturnType<typeof postForm> =>
    postForm(
      url,
      { headers: {}, form: new URLSearchParams({ token: 'hunter2' }) },
      { dispatcher: egress.dispatcher, maxBytes: 1_000, timeoutMs: 200 },
    );
  const failure = (url = `${base}/?key=hunter2`): Promise<string> =>
    post(url).then(
      () => 'it answered',
      (error: Error) => error.message,
    );

  it('sends a form and reads the answer', async () => {
    handler = (req, res) => void res.writeHead(400).end(req.headers['content-type']);
    expect(await post(base)).toEqual({ status: 400, text: 'application/x-www-form-urlencoded' });
  });

  it('follows no redirect', async () => {
    let calls = 0;
    handler = (_, res) => {
      calls++;
      res.writeHead(307, { location: '/elsewhere' }).end();
    };
    expect((await post(base)).status).toBe(307);
    expect(calls).toBe(1);
  });

  it('gives up a huge answer', async () => {
    handler = (_, res) => void res.end('x'.repeat(1_001));
    expect(await failure()).toMatch(/^127\.0\.0\.1:\d+ answered with more than 1000 bytes$/);
  });

  it('gives up a slow answer', async () => {
    handler = (_, res) => void res.writeHead(200).write('{');
    expect(await failure()).toMatch(/did not answer in full within 200 ms$/);
  });

  it('counts the look-up of the name into its time', async () => {
    let end = (): void => undefined;
    const resolver = () => new Promise<never>((_, reject) => (end = () => reject(new Error('gone'))));
    const stuck = createEgress({ allow: [], resolver, connectTimeoutMs: 60_000 });
    const form = { headers: {}, form: new URLSearchParams() };
    const limits = { dispatcher: stuck.dispatcher, maxBytes: 10, timeoutMs: 50 };
    await expect(postForm('http://stuck.example/token', form, limits)).rejects.toThrow(
      'stuck.example did not answer in full within 50 ms',
    );
    end();
    await stuck.close();
  });

  it('names a broken connection without what was sent', async () => {
    handler = (req) => void req.socket.destroy();
    expect(await failure()).toMatch(/^127\.0\.0\.1:\d+ could not be reached: \w+$/);
  });

  it('reaches no private address', async () => {
    expect(await failure('http://169.254.169.254/token')).toContain('169.254.169.254');
  });
});
