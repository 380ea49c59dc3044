import { type IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { limitKeyOf, parseRange, TrustedProxies } from './client-address.js';
import { OperatorAccess } from './operator-access.js';

const from = (remoteAddress: string | undefined, headers: Record<string, string> = {}): IncomingMessage =>
  ({
    socket: { remoteAddress },
    headers: { host: 'own.example', ...headers },
  }) as Partial<IncomingMessage> as IncomingMessage;

const forwarded = {
  'x-forwarded-for': '203.0.113.7, 10.0.0.9',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'public.example:8443',
};

describe('the client of a request', () => {
  const proxies = new TrustedProxies(['10.0.0.0/8', 'fd00::/8', '::ffff:192.168.0.0/112']);

  // docs/reference/rest-api.md#client-address
  it('is the peer, whatever its headers say, when it is not a trusted proxy', () => {
    const own = { address: '203.0.113.1', scheme: 'http', host: 'own.example' };
    expect(proxies.clientOf(from('203.0.113.1', forwarded))).toEqual(own);
    expect(new TrustedProxies().clientOf(from('203.0.113.1', forwarded))).toEqual(own);
    expect(new TrustedProxies().clientOf(from('10.0.0.1', forwarded)).address).toBe('10.0.0.1');
  });

  // docs/reference/rest-api.md#client-address
  it('is the address that a trusted proxy reports', () => {
    const client = { address: '203.0.113.7', scheme: 'https', host: 'public.example:8443' };
    for (const peer of ['10.0.0.1', '::ffff:10.0.0.1', 'fd00::5', '192.168.3.4'])
      expect(proxies.clientOf(from(peer, forwarded))).toEqual(client);
  });

  it.each([
    ['one that the client put ahead', '1.1.1.1, 203.0.113.7', '203.0.113.7'],
    ['a trusted address that the client put ahead', '10.9.9.9, 203.0.113.7, 10.0.0.2', '203.0.113.7'],
    ['only proxies', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['text', '203.0.113.7, nonsense, 10.0.0.2', '10.0.0.2'],
    ['none', '', '10.0.0.1'],
    ['a port', '203.0.113.7:5511', '203.0.113.7'],
    ['IPv6 with a port', '"[2001:db8::7]:443"', '2001:db8::7'],
    ['mapped IPv4', '::ffff:203.0.113.7', '203.0.113.7'],
    ['octal', '0177.0.0.1, 10.0.0.2', '10.0.0.2'],
  ])('is read from the right of x-forwarded-for: %s', (_name, list, address) => {
    expect(proxies.clientOf(from('10.0.0.1', { 'x-forwarded-for': list })).address).toBe(address);
  });

  it('has the scheme reported by its own proxy, not one that it wrote itself', () => {
    const schemeOf = (chain: string, proto: string): string =>
      proxies.clientOf(from('10.0.0.1', { 'x-forwarded-for': chain, 'x-forwarded-proto': proto })).scheme;
    expect(schemeOf('203.0.113.7', 'https, http')).toBe('http');
    expect(schemeOf('203.0.113.7, 10.0.0.2', 'https, http')).toBe('https');
    expect(schemeOf('203.0.113.7, 10.0.0.2', 'https')).toBe('https');
    expect(schemeOf('203.0.113.7', 'javascript')).toBe('http');
    expect(schemeOf('', 'https')).toBe('https');
  });

  it('has no malformed host', () => {
    const headers = { ...forwarded, 'x-forwarded-host': 'a/b?<script>' };
    expect(proxies.clientOf(from('10.0.0.1', headers)).host).toBe('own.example');
  });

  it('has an empty address when the socket has none', () => {
    expect(proxies.clientOf(from(undefined, forwarded)).address).toBe('');
  });
});

describe('a range', () => {
  it.each([
    '10.0.0.0/33',
    '10.0.0/8',
    'proxy.example',
    '',
    '10.0.0.1/8/8',
    '::1/129',
    '::ffff:10.0.0.0/8',
    '10.0.0.1/x',
  ])('%j is refused with an example', (entry) =>
    expect(() => parseRange(entry)).toThrow(/is not an address or CIDR range; write for example/),
  );
});

describe('limits for each address', () => {
  it('count an IPv6 network as one', () => {
    expect(limitKeyOf('203.0.113.7')).toBe('203.0.113.7');
    expect(limitKeyOf('2001:db8:1:2::1')).toBe(limitKeyOf('2001:db8:1:2:ffff::9'));
    expect(limitKeyOf('2001:db8:1:2::1')).not.toBe(limitKeyOf('2001:db8:1:3::1'));
  });
});

describe('operator access', () => {
  const proxies = new TrustedProxies(['10.0.0.0/8', '127.0.0.9']);
  const access = new OperatorAccess('loopback', proxies);

  // docs/reference/rest-api.md#operator-access
  it.each([
    ['127.0.0.1', {}, true],
    ['127.8.8.8', {}, true],
    ['::1', {}, true],
    ['::ffff:127.0.0.1', {}, true],
    ['203.0.113.7', {}, false],
    ['10.0.0.1', {}, false],
    ['127.0.0.9', {}, false],
    ['127.0.0.1', { 'x-forwarded-for': '127.0.0.1' }, false],
    ['127.0.0.1', { 'x-forwarded-server': 'a' }, false],
    ['127.0.0.1', { forwarded: 'for=127.0.0.1' }, false],
    ['127.0.0.1', { via: '1.1 a' }, false],
    ['127.0.0.1', { 'x-real-ip': '127.0.0.1' }, false],
    ['', {}, false],
  ] as [string, Record<string, string>, boolean][])('from %s with %j: %s', (peer, headers, allowed) => {
    expect(access.allows(from(peer, headers))).toBe(allowed);
    expect(new OperatorAccess('open', proxies).allows(from(peer, headers))).toBe(true);
  });

  // A proxy on this machine that adds no header forwards the host that its client requested.
  // docs/reference/rest-api.md#operator-access
  it.each([
    ['https://sluice.example', 'sluice.example', false],
    ['https://sluice.example', 'SLUICE.example:443', false],
    ['https://sluice.example', 'other.example', false],
    ['https://sluice.example', '', false],
    ['https://203.0.113.7:3000', '203.0.113.7:3000', false],
    ['https://sluice.example', '127.0.0.1:3000', true],
    ['https://sluice.example', '[::1]:3000', true],
    ['https://sluice.example', 'localhost:3000', true],
    ['http://127.0.0.1:3000', 'sluice.example', true],
    [null, 'sluice.example', true],
  ])('with the public URL %s, from this machine for the host %j: %s', (publicUrl, host, allowed) => {
    const behind = new OperatorAccess('loopback', proxies, publicUrl);
    expect(behind.allows(from('127.0.0.1', host === '' ? {} : { host }))).toBe(allowed);
    expect(behind.allows(from('127.0.0.1', { host: '127.0.0.1:3000', 'x-forwarded-for': '203.0.113.7' }))).toBe(false);
  });
});
