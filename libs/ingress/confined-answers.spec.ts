import { afterEach, describe, expect, it } from '@jest/globals';
import { type Refusal } from '#libs/stream-log/refusal.js';
import { refusing } from './admission.js';
import { type IngressDependencies } from './ingress.js';
import { RateLimit } from './rate-limit.js';
import { ingressWorld } from './testing/ingress-world.js';

const worlds: Awaited<ReturnType<typeof ingressWorld>>[] = [];
afterEach(async () => {
  await Promise.all(worlds.splice(0).map(({ close }) => close()));
});

const setUp = async (over: Partial<IngressDependencies> = {}) => {
  const world = await ingressWorld(over);
  worlds.push(world);
  return world;
};

// docs/reference/component-model.md#endpoint-sandbox
describe('an answer below the origin of the API', () => {
  const POLICY = 'sandbox allow-scripts allow-forms allow-popups allow-downloads';
  const refusal: Refusal = { status: 503, code: 'overloaded', text: 'too much', retryAfterS: 1 };
  const full = { admission: refusing(() => refusal) };
  const failing = {
    admission: {
      enter: (): never => {
        throw new Error('broken');
      },
      left: () => undefined,
    },
  };

  it.each([
    ['accepted', 200, {}, 'POST', '/h/ehook', {}],
    ['of a preflight', 204, {}, 'OPTIONS', '/h/ehook/x', {}],
    ['of an unknown key', 404, {}, 'GET', '/h/enone/', {}],
    ['of no key', 404, {}, 'GET', '/h/', {}],
    ['too large', 413, {}, 'POST', '/h/ehook', { body: 'x'.repeat(101) }],
    ['refused for its switches', 400, {}, 'POST', '/h/ehook', { headers: { 'x-pd-upload-body': '1' } }],
    ['refused for its rate', 429, { rate: new RateLimit(60, 0) }, 'GET', '/h/ehook', {}],
    ['refused for pressure', 503, full, 'POST', '/h/ehook', {}],
    ['failed', 503, failing, 'POST', '/h/ehook', {}],
    ['too late', 504, { replyTimeoutMs: 1 }, 'POST', '/h/ecustom', {}],
  ] as const)('has the sandbox policy: %s', async (_, status, over, method, path, options) => {
    const t = await setUp(over);
    const answer = await t.call(method, path, options);
    expect([answer.status, answer.headers['content-security-policy']]).toEqual([status, POLICY]);
  });

  it('has the policy of its component too, and a reply that cannot be sent has the policy', async () => {
    const t = await setUp();
    const replied = async (headers: Record<string, string>) => {
      const waiting = t.call('POST', '/h/ecustom');
      while (!t.published.at(-1)) await new Promise((resolve) => setImmediate(resolve));
      const record = t.published.pop();
      expect(record?.headers['confined']).toBe('1');
      t.relay.replied(record?.headers['id'] ?? '', { status: 200, headers, body: '', base64: false });
      return waiting;
    };
    const own = await replied({ 'Content-Security-Policy': "default-src 'none'", 'set-cookie': 'a=1; Path=/' });
    expect(own.headers).toMatchObject({
      'content-security-policy': `${POLICY}, default-src 'none'`,
      'set-cookie': ['a=1; Path=/h/ecustom'],
    });
    expect(await replied({ 'bad name': 'x' })).toMatchObject({
      status: 500,
      headers: { 'content-security-policy': POLICY },
    });
  });

  it('has none at a domain of its own, also beside the path of another endpoint', async () => {
    const t = await setUp({ domain: 'hooks.example.com' });
    const at = (path: string) => t.call('POST', path, { headers: { host: 'ehook.hooks.example.com' } });
    expect((await at('/x')).headers['content-security-policy']).toBeUndefined();
    expect((await at('/h/ecustomer')).headers['content-security-policy']).toBe(POLICY);
  });
});
