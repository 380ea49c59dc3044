import { type IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Address, number];

/** Origin of a request, as far as it can be trusted. */
export interface Client {
  /** Address in plain form. An IPv4 address that the socket reports as IPv6 is written as IPv4. */
  readonly address: string;
  readonly scheme: 'http' | 'https';
  /** Host name and port that the client requested. */
  readonly host: string;
}

/** Headers that proxies, load balancers and tunnels add, besides `x-forwarded-…`, `x-original-…` and `cf-…`. */
const FORWARDING = new Set([
  ...['forwarded', 'forwarded-for', 'via', 'true-client-ip', 'fastly-client-ip', 'fly-client-ip', 'client-ip'],
  ...['x-real-ip', 'x-client-ip', 'x-cluster-client-ip', 'x-remote-ip', 'x-remote-addr', 'x-proxyuser-ip'],
  ...['x-envoy-external-address', 'x-appengine-user-ip', 'x-azure-clientip', 'x-amzn-trace-id', 'cdn-loop'],
  ...['x-host', 'x-scheme', 'x-url-scheme', 'x-original-url', 'x-rewrite-url', 'tailscale-user-login'],
  ...['proxy-connection', 'front-end-https', 'wl-proxy-client-ip', 'x-arr-ssl', 'x-arr-log-id'],
]);
const FORWARDING_PREFIX = /^(x-forwarded|x-original-|cf-)/;
const HOST = /^[A-Za-z0-9._:[\]-]{1,255}$/;

/**
 * Proxies whose `x-forwarded-for`, `-proto` and `-host` are trusted (SLUICE_TRUSTED_PROXIES). From any other peer these
 * headers are untrusted client input.
 */
export class TrustedProxies {
  private readonly ranges: readonly Range[];

  /** @param ranges addresses and CIDR ranges. Throws an Error that names a wrong entry. */
  constructor(ranges: readonly string[] = []) {
    this.ranges = ranges.map(parseRange);
  }

  /**
   * Finds the first address from the right of `x-forwarded-for` that is not a trusted proxy. Scheme and host come from
   * the proxy in front of that address.
   */
  clientOf(req: IncomingMessage): Client {
    if (this.ranges.length === 0) return { address: peerOf(req), scheme: 'http', host: req.headers.host ?? '' };
    const hops = this.hopsOf(req);
    const peer = parse(peerOf(req));
    const proxies = Math.max(hops.length - 1, peer !== undefined && this.trusts(peer) ? 1 : 0);
    const said = (header: string): string | undefined => {
      const values = proxies === 0 ? [] : listOf(req, header);
      // Each proxy appends a value, or one value stands for all of them.
      return values[Math.max(0, values.length - proxies)];
    };
    const host = said('x-forwarded-host') ?? '';
    return {
      address: hops.at(-1) ?? '',
      scheme: said('x-forwarded-proto')?.toLowerCase() === 'https' ? 'https' : 'http',
      host: HOST.test(host) ? host : (req.headers.host ?? ''),
    };
  }

  /** Whether any proxy, trusted or not, is between the client and this process. */
  isForwarded(req: IncomingMessage): boolean {
    const names = Object.keys(req.headers);
    const peer = parse(peerOf(req));
    return (
      names.some((name) => FORWARDING.has(name) || FORWARDING_PREFIX.test(name)) ||
      (peer !== undefined && this.trusts(peer))
    );
  }

  /** Lists the peer, then the previous hop that each trusted proxy reports. The last one is the client. */
  private hopsOf(req: IncomingMessage): readonly string[] {
    const hops = [peerOf(req)];
    const forwarded = listOf(req, 'x-forwarded-for');
    let address = parse(hops[0] ?? '');
    while (address !== undefined && this.trusts(address)) {
      address = parse(forwarded.pop() ?? '');
      if (address !== undefined) hops.push(address.toString());
    }
    return hops;
  }

  private trusts(address: Address): boolean {
    return this.ranges.some(([base, bits]) => address.kind() === base.kind() && address.match(base, bits));
  }
}

export const isLoopback = (req: IncomingMessage): boolean => parse(peerOf(req))?.range() === 'loopback';

/** Whether a host name, with or without a port, means this machine. */
export const isLoopbackHost = (host: string): boolean =>
  /^([^:]+\.)?localhost\.?(:\d+)?$/i.test(host) || parse(host)?.range() === 'loopback';

/** Key of limits per address. An IPv6 /64 counts as one client, because one customer holds the whole network. */
export const limitKeyOf = (address: string): string => {
  const parsed = parse(address);
  if (parsed === undefined || parsed.kind() === 'ipv4') return address;
  return `${parsed.toByteArray().slice(0, 8).join('.')}/64`;
};

/** Parses an address or CIDR range. Throws an Error with an example of a valid entry. */
export const parseRange = (entry: string): Range => {
  const [text = '', suffix, ...more] = entry.trim().split('/');
  const mapped = /^::ffff:/i.test(text);
  const base = parse(text);
  const longest = base?.kind() === 'ipv4' && !mapped ? 32 : 128;
  const bits = suffix === undefined ? longest : /^\d{1,3}$/.test(suffix) ? Number(suffix) : Infinity;
  if (base === undefined || bits > longest || more.length > 0 || (mapped && bits < 96)) {
    throw new Error(
      `${JSON.stringify(entry)} is not an address or CIDR range; write for example 10.0.0.7, 172.16.0.0/12 or fd00::/8`,
    );
  }
  return [base, mapped ? bits - 96 : bits];
};

const peerOf = (req: IncomingMessage): string => {
  const address = req.socket.remoteAddress ?? '';
  return /^::ffff:\d+\.\d+\.\d+\.\d+$/i.test(address) ? address.slice(7) : address;
};

const listOf = (req: IncomingMessage, header: string): string[] => {
  const value = req.headers[header];
  const text = typeof value === 'string' ? value : (value ?? []).join(',');
  return text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
};

/** Parses an address, also with the port, brackets or quotes that some proxies add. Returns undefined for other text. */
const parse = (text: string): Address | undefined => {
  const bare = text
    .replace(/^"|"$/g, '')
    .replace(/^\[([^\]]*)\](:\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/%.*$/, '');
  if (ipaddr.IPv4.isValidFourPartDecimal(bare)) return ipaddr.IPv4.parse(bare);
  return bare.includes(':') && ipaddr.IPv6.isValid(bare) ? ipaddr.process(bare) : undefined;
};
