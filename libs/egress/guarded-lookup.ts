import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isNativeError } from 'node:util/types';
import { EgressRefused, type AddressPolicy } from './address-policy.js';

/** Resolves all addresses of a name. Rejects with the system's error (`ENOTFOUND`, `EAI_AGAIN`, …). */
export type Resolver = (name: string) => Promise<readonly LookupAddress[]>;

export const systemResolver: Resolver = (name) =>
  new Promise((resolve, reject) => {
    dnsLookup(name, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });

/**
 * Normalises a host as the URL parser and the operating system read it. `0x7f.1`, `2130706433` and `017700000001`
 * become 127.0.0.1. Full-width digits become digits, and names become lower case without the final dot.
 * Throws EgressRefused for a text that is not a host.
 */
export const normalizeHost = (host: string): string => {
  const bare = host.replace(/^\[|\]$/g, '');
  if (isIP(bare) === 6) return bare.replace(/%.*$/, '');
  // The URL parser would silently cut these off or drop them.
  if (/[\s:/?#@\\]/.test(bare)) throw notAHost(host, undefined);
  try {
    return new URL(`http://${bare}`).hostname.replace(/\.$/, '');
  } catch (error) {
    throw notAHost(host, error);
  }
};

const notAHost = (host: string, cause: unknown): EgressRefused => {
  const refused = new EgressRefused(
    host,
    undefined,
    'not a host name or IP address',
    'Give a name or an address alone',
  );
  refused.cause = cause;
  return refused;
};

/**
 * Resolves a host once and checks all of its addresses. One refused address refuses the host. Otherwise a name with a
 * public and a private address could be retried until the private one comes first.
 * Rejects with EgressRefused, or with the resolver's error.
 */
export type GuardedLookup = (host: string) => Promise<readonly LookupAddress[]>;

export const guardedLookup = (policy: AddressPolicy, resolver: Resolver = systemResolver): GuardedLookup => {
  // The system's resolver has few threads for the whole process, so each name has one query in flight.
  const asked = new Map<string, Promise<readonly LookupAddress[]>>();
  const ask = (name: string): Promise<readonly LookupAddress[]> => {
    const running = asked.get(name);
    if (running !== undefined) return running;
    const answer = resolver(name).finally(() => asked.delete(name));
    asked.set(name, answer);
    return answer;
  };
  return async (host) => {
    const name = normalizeHost(host);
    const family = isIP(name);
    const addresses = family === 0 ? await ask(name) : [{ address: name, family }];
    for (const { address } of addresses) policy.check(host, address);
    if (addresses.length === 0) throw Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' });
    return addresses;
  };
};

/** Adapts the lookup to the `lookup` option of net.connect, which skips it for IP literals. Check those before. */
export const asLookupFunction = (lookup: GuardedLookup): LookupFunction => {
  return (host, options, callback) => {
    lookup(host).then(
      (addresses) => {
        const wanted = options.family === 4 || options.family === 6 ? options.family : 0;
        const usable = addresses.filter(({ family }) => wanted === 0 || family === wanted);
        const first = usable[0];
        if (first === undefined) {
          callback(Object.assign(new Error(`${host} has no IPv${wanted} address`), { code: 'ENOTFOUND' }), []);
        } else if (options.all === true) callback(null, [...usable]);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(isNativeError(error) ? error : new Error(String(error)), []),
    );
  };
};
