import { describe, expect, it } from '@jest/globals';
import { COOKIE_LIMITS, endpointReply, SANDBOX_POLICY } from './endpoint-reply.js';

const BASE = '/h/ekey';
const POLICY = { 'content-security-policy': [SANDBOX_POLICY] };
const cookiesOf = (...cookies: string[]) => {
  const { headers, leftOut } = endpointReply({ 'Set-Cookie': cookies }, BASE);
  return { cookies: headers['Set-Cookie'] ?? [], leftOut };
};
const cookieOf = (cookie: string): string | undefined => cookiesOf(cookie).cookies[0];

// docs/reference/component-model.md#endpoint-confined
describe('a reply below the origin of the API', () => {
  it.each([
    ...['Service-Worker-Allowed', 'clear-site-data', 'STRICT-TRANSPORT-SECURITY', 'Alt-Svc', 'NEL', 'Report-To'],
    ...['Reporting-Endpoints', 'Public-Key-Pins', 'Expect-CT', 'Accept-CH', 'Critical-CH', 'Origin-Agent-Cluster'],
    ...['Origin-Trial', 'Set-Login', 'Set-Cookie2', 'P3P', 'WWW-Authenticate', 'Authentication-Info'],
    ...['Use-As-Dictionary', 'Activate-Storage-Access', 'Sec-Session-Registration', 'Secure-Session-Registration'],
    ...['Attribution-Reporting-Register-Source', 'Shared-Storage-Write', 'X-Permitted-Cross-Domain-Policies'],
    ...['X-Accel-Redirect', 'X-Sendfile', 'X-LiteSpeed-Location'],
  ])('leaves out %s, and says so', (name) => {
    expect(endpointReply({ [name]: 'x', 'x-own': '1' }, BASE)).toEqual({
      headers: { 'x-own': '1', ...POLICY },
      leftOut: [`header ${name}`],
    });
  });

  it.each([
    ...['Location', 'Refresh', 'Cache-Control', 'ETag', 'Vary', 'Link', 'SourceMap', 'Content-Disposition'],
    ...['Access-Control-Allow-Origin', 'Access-Control-Allow-Credentials', 'Permissions-Policy', 'Referrer-Policy'],
    ...[
      'Cross-Origin-Opener-Policy',
      'Cross-Origin-Embedder-Policy',
      'Cross-Origin-Resource-Policy',
      'X-Frame-Options',
    ],
    ...['Timing-Allow-Origin', 'Speculation-Rules', 'No-Vary-Search', 'Supports-Loading-Mode', 'Retry-After'],
    'Content-Security-Policy-Report-Only',
  ])('keeps %s, which is in force for the answer alone', (name) => {
    expect(endpointReply({ [name]: 'x' }, BASE)).toEqual({ headers: { [name]: 'x', ...POLICY }, leftOut: [] });
  });

  it('has the policy in a line of its own beside that of the component', () => {
    const own = 'sandbox allow-same-origin allow-top-navigation';
    for (const name of ['Content-Security-Policy', 'content-security-policy'])
      expect(endpointReply({ [name]: own }, BASE).headers).toEqual({
        'content-security-policy': [SANDBOX_POLICY, own],
      });
    const two = endpointReply({ 'CONTENT-SECURITY-POLICY': ['a', 'b'] }, BASE).headers;
    expect(two).toEqual({ 'content-security-policy': [SANDBOX_POLICY, 'a', 'b'] });
  });

  it.each(['multipart/x-mixed-replace; boundary=b', ' Multipart/Mixed', 'text/cache-manifest'])(
    'has no content type %s, whose parts would bring headers of their own',
    (type) => expect(endpointReply({ 'Content-Type': type }, BASE).leftOut).toEqual(['header Content-Type']),
  );

  it.each([
    ['a=1', 'a=1; Path=/h/ekey'],
    ['a=1; Path=/', 'a=1; Path=/h/ekey'],
    ['a=1;path=/;PATH=/;Path', 'a=1; Path=/h/ekey'],
    ['a=1; Path=/h/ekey; path=/h', 'a=1; Path=/h/ekey/h'],
    ['a=1; \t pAtH \t=\t /cart ; Secure', 'a=1; Secure; Path=/h/ekey/cart'],
    ['a=1; Path="/"', 'a=1; Path=/h/ekey'],
    ['a=1; Path=cart', 'a=1; Path=/h/ekey'],
    ['a=1; Path=/h/ekey/deep', 'a=1; Path=/h/ekey/deep'],
    ['a=1; Path=/h/ekeyother', 'a=1; Path=/h/ekey/h/ekeyother'],
    ['a=1; Path=/..', 'a=1; Path=/h/ekey/..'],
    [`a=1; Path=/${'x'.repeat(COOKIE_LIMITS.path)}`, 'a=1; Path=/h/ekey'],
    ['a="x;Path=/"; HttpOnly', 'a="x; HttpOnly; Path=/h/ekey/"'],
    ['a=1; Max-Age=5; SameSite=Lax; Expires=Thu, 01 Jan 2099 00:00:00 GMT', undefined],
    ['__Secure-a=1; Secure; Path=/', '__Secure-a=1; Secure; Path=/h/ekey'],
    ['nameless', 'nameless; Path=/h/ekey'],
  ])('confines the cookie %j to the path of its endpoint', (cookie, confined) => {
    expect(cookieOf(cookie)).toBe(confined ?? `${cookie}; Path=/h/ekey`);
  });

  it.each(['Domain=example.com', 'DOMAIN =.example.com', 'domain', ' domain = a; Domain=b'])(
    'takes %j from a cookie, and says so',
    (attribute) => {
      expect(cookiesOf(`a=1; ${attribute}; Secure`)).toEqual({
        cookies: ['a=1; Secure; Path=/h/ekey'],
        leftOut: ['the Domain of cookie "a"'],
      });
    },
  );

  it.each([
    '__Host-a=1; Secure; Path=/',
    '__hOsT-a=1',
    ' \t__Host-a=1',
    '=__Host-a=1',
    '= __Host-a',
    '__Host-Http-a=1',
    '__Host-a',
  ])('leaves out the cookie %j, which is for the whole host by its name', (cookie) => {
    const { cookies, leftOut } = cookiesOf(cookie, 'b=2');
    expect(cookies).toEqual(['b=2; Path=/h/ekey']);
    expect(leftOut).toEqual([expect.stringContaining('__Host- cookie')]);
  });

  it('leaves out empty cookies, large ones and those beyond the number', () => {
    expect(cookiesOf('', ';Path=/', '=').cookies).toEqual([]);
    expect(cookiesOf(`a=${'x'.repeat(5_000)}`)).toEqual({
      cookies: [],
      leftOut: [expect.stringContaining('the limit is 4096')],
    });
    const many = cookiesOf(...Array.from({ length: 150 }, (_, i) => `c${i}=1`));
    expect([many.cookies.length, many.leftOut.length]).toEqual([COOKIE_LIMITS.cookies, 150 - COOKIE_LIMITS.cookies]);
  });
});

describe('a reply at a domain of its endpoint', () => {
  it('stays as it is, but for orders to a proxy in front', () => {
    const own = { 'Set-Cookie': ['__Host-a=1; Secure; Path=/'], 'Clear-Site-Data': '"*"', 'WWW-Authenticate': 'Basic' };
    expect(endpointReply({ ...own, 'X-Accel-Redirect': '/private' }, null)).toEqual({
      headers: own,
      leftOut: ['header X-Accel-Redirect'],
    });
  });
});
