/** node:dns of a component: the egress guard answers (docs/reference/component-model.md#name-lookups). */
import dns from 'node:dns';
import { isIP } from 'node:net';
import { syncBuiltinESMExports } from 'node:module';
import { promisify } from 'node:util';
import { messageOf } from '#libs/kernel/error-message.js';
import { askGuard } from './egress-socket.js';

const MAX_ANSWER = 128 * 1024;
/** Look-ups of one run (docs/reference/limits.md#name-lookups). */
const MAX_LOOKUPS = 100;

interface Address {
  readonly address: string;
  readonly family: number;
}

type Callback = (error: Error | null, ...values: unknown[]) => void;
type Ask = (type: string, name: string) => Promise<unknown>;

/** Error of a failed look-up, in Node's form. */
const failure = (error: unknown, syscall: string, hostname: string): Error => {
  const code = (error as { code?: unknown } | null)?.code;
  const text = typeof code === 'string' ? code : 'EFAIL';
  return Object.assign(new Error(`${syscall} ${text} ${hostname}: ${messageOf(error)}`, { cause: error }), {
    code: text,
    syscall,
    hostname,
  });
};

/** Counts the look-ups of each run. Look-ups outside of a run, such as while a module loads, count together. */
const asker = (egress: string | null, owner: () => object | undefined): Ask => {
  const counts = new WeakMap<object, number>();
  const outside = {};
  return async (type, name) => {
    if (egress === null) throw Object.assign(new Error('this process has no network'), { code: 'EACCES' });
    const run = owner() ?? outside;
    const count = (counts.get(run) ?? 0) + 1;
    if (count > MAX_LOOKUPS) {
      const text = `one run may look up at most ${MAX_LOOKUPS} names: keep what was found, or connect by name`;
      throw Object.assign(new Error(text), { code: 'TOO_MANY_LOOKUPS' });
    }
    counts.set(run, count);
    if (!/^[^\s\0]{1,255}$/.test(name)) throw Object.assign(new Error('not a host name'), { code: 'ENOTFOUND' });
    const line = Buffer.from(`LOOKUP ${type} ${name}`).toString('utf8');
    return JSON.parse(await askGuard(egress, line, MAX_ANSWER)) as unknown;
  };
};

const notText = (name: unknown): TypeError =>
  Object.assign(new TypeError(`The "hostname" argument must be of type string. Received ${typeof name}`), {
    code: 'ERR_INVALID_ARG_TYPE',
  });

const FAMILIES = new Map<unknown, number>([
  [undefined, 0],
  [null, 0],
  [0, 0],
  [4, 4],
  [6, 6],
  ['IPv4', 4],
  ['IPv6', 6],
]);

interface LookupOptions {
  readonly family: number;
  readonly all: boolean;
  readonly order: string;
}

const lookupOptions = (given: unknown): LookupOptions => {
  const options = (typeof given === 'object' && given !== null ? given : { family: given }) as Record<string, unknown>;
  const family = FAMILIES.get(options['family']);
  if (family === undefined)
    throw Object.assign(new TypeError(`The property 'options.family' must be one of: 0, 4, 6`), {
      code: 'ERR_INVALID_ARG_VALUE',
    });
  const usual = options['verbatim'] === false ? 'ipv4first' : dns.getDefaultResultOrder();
  const { order } = options;
  return { family, all: options['all'] === true, order: typeof order === 'string' ? order : usual };
};

const inOrder = (addresses: readonly Address[], order: string): readonly Address[] => {
  const first = order === 'ipv4first' ? 4 : order === 'ipv6first' ? 6 : 0;
  return first === 0 ? addresses : [...addresses].sort((a, b) => +(b.family === first) - +(a.family === first));
};

/** Addresses in the form of `dns.lookup`. Without a name there is none, as in Node. */
const looksUp =
  (ask: Ask) =>
  async (name: unknown, given?: unknown): Promise<Address | readonly Address[]> => {
    const { family, all, order } = lookupOptions(given);
    if (name === undefined || name === null || name === '')
      return all ? [] : ({ address: null, family: family === 6 ? 6 : 4 } as unknown as Address);
    if (typeof name !== 'string') throw notText(name);
    try {
      const found = (await ask('ADDRESS', name)) as readonly Address[];
      const usable = inOrder(found, order).filter((one) => family === 0 || one.family === family);
      const [first] = usable;
      if (first !== undefined) return all ? usable : first;
    } catch (error) {
      throw failure(error, 'getaddrinfo', name);
    }
    throw failure(
      Object.assign(new Error(`it has no IPv${family} address`), { code: 'ENOTFOUND' }),
      'getaddrinfo',
      name,
    );
  };

type Resolve = (name: unknown, options?: unknown) => Promise<unknown>;

const resolvesAddresses =
  (ask: Ask, family: 4 | 6): Resolve =>
  async (name, options) => {
    if (typeof name !== 'string') throw notText(name);
    const syscall = family === 4 ? 'queryA' : 'queryAaaa';
    let found: readonly Address[];
    try {
      found = ((await ask('ADDRESS', name)) as readonly Address[]).filter((one) => one.family === family);
    } catch (error) {
      throw failure(error, syscall, name);
    }
    const none = Object.assign(new Error(`it has no IPv${family} address`), { code: 'ENODATA' });
    if (found.length === 0) throw failure(none, syscall, name);
    // The guard's decision has no time to live.
    const ttl = (options as { ttl?: unknown } | null | undefined)?.ttl === true;
    return found.map(({ address }) => (ttl ? { address, ttl: 0 } : address));
  };

const resolvesRecords =
  (ask: Ask, type: string): Resolve =>
  async (name) => {
    if (typeof name !== 'string') throw notText(name);
    try {
      return await ask(type, name);
    } catch (error) {
      throw failure(error, `query${type[0] ?? ''}${type.slice(1).toLowerCase()}`, name);
    }
  };

/** Name under which DNS stores the name of an address. */
const reverseName = (address: string): string => {
  if (isIP(address) === 4) return `${address.split('.').reverse().join('.')}.in-addr.arpa`;
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const after = groups(tail ?? '');
  const before = groups(head);
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  const digits = [...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join('');
  return `${[...digits].reverse().join('.')}.ip6.arpa`;
};

const TYPES = ['Caa', 'Cname', 'Mx', 'Naptr', 'Ns', 'Ptr', 'Soa', 'Srv', 'Txt'] as const;

/** The functions of node:dns/promises that look names up. */
const promised = (ask: Ask): Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>> => {
  const byType = new Map<string, Resolve>([
    ['A', resolvesAddresses(ask, 4)],
    ['AAAA', resolvesAddresses(ask, 6)],
    ...TYPES.map((type): [string, Resolve] => [type.toUpperCase(), resolvesRecords(ask, type.toUpperCase())]),
  ]);
  const [four, six] = [resolvesAddresses(ask, 4), resolvesAddresses(ask, 6)];
  const cannot = (call: string, remedy: string) => (): Promise<never> =>
    Promise.reject(
      Object.assign(new Error(`dns.${call} does not work in a component: ${remedy}`), { code: 'ENOTIMP' }),
    );
  const resolve = (name: unknown, type: unknown = 'A'): Promise<unknown> => {
    if (type === 'ANY') return cannot('resolveAny', 'ask for one type of record')();
    const known = byType.get(String(type));
    if (known !== undefined) return known(name);
    const text = `The argument 'rrtype' is invalid. Received ${String(type)}`;
    return Promise.reject(Object.assign(new TypeError(text), { code: 'ERR_INVALID_ARG_VALUE' }));
  };
  const reverse = async (address: unknown): Promise<unknown> => {
    if (typeof address !== 'string') throw notText(address);
    if (isIP(address) === 0 || address.includes('%'))
      throw failure(Object.assign(new Error('not an address'), { code: 'EINVAL' }), 'getHostByAddr', address);
    return resolvesRecords(ask, 'PTR')(reverseName(address));
  };
  return {
    resolve,
    resolve4: four,
    resolve6: six,
    ...Object.fromEntries(TYPES.map((type) => [`resolve${type}`, resolvesRecords(ask, type.toUpperCase())])),
    resolveAny: cannot('resolveAny', 'ask for one type of record'),
    reverse,
  };
};

type Functions = Readonly<Record<string, (...args: unknown[]) => unknown>>;

/** The same function with a callback as its last argument. */
const called =
  (
    work: (...args: unknown[]) => Promise<unknown>,
    spread: (value: unknown) => readonly unknown[] = (value) => [value],
  ) =>
  (...args: unknown[]): void => {
    const callback = args.pop();
    if (typeof callback !== 'function')
      throw Object.assign(new TypeError('The "callback" argument must be of type function.'), {
        code: 'ERR_INVALID_ARG_TYPE',
      });
    const answer = callback as Callback;
    // Called outside of the promise, so that an error of the callback is uncaught, as in Node.
    work(...args).then(
      (value) => process.nextTick(() => answer(null, ...spread(value))),
      (error: unknown) => process.nextTick(() => answer(error as Error)),
    );
  };

const OWN_SERVERS =
  'a component cannot choose its name servers, because the egress guard of the server looks names up: leave the call out';

/** There is one list of servers, and a component does not see it. */
const servers: Functions = {
  getServers: () => [],
  setServers: (list) => {
    if (Array.isArray(list) && list.length === 0) return;
    throw Object.assign(new Error(`dns.setServers: ${OWN_SERVERS}`), { code: 'EACCES' });
  },
};

const resolverOf = (functions: Functions): unknown => {
  class Resolver {
    cancel(): void {
      // Answers come within the time limit of a connection.
    }
    setLocalAddress(): void {
      // The guard connects, from its own address.
    }
  }
  Object.assign(Resolver.prototype, functions, servers);
  return Resolver;
};

/** Replaces the look-ups of node:dns, for CommonJS and ES modules. With null, every look-up is refused. */
export const lookUpNames = (egress: string | null, owner: () => object | undefined): void => {
  const ask = asker(egress, owner);
  const lookup = looksUp(ask);
  const functions = promised(ask);
  const callbacks = Object.fromEntries(Object.entries(functions).map(([name, work]) => [name, called(work)]));
  const lookupService = (): Promise<never> =>
    Promise.reject(
      Object.assign(new Error('dns.lookupService does not work in a component: use dns.reverse'), { code: 'ENOTIMP' }),
    );
  const split = (found: unknown): readonly unknown[] =>
    Array.isArray(found) ? [found] : [(found as Address).address, (found as Address).family];
  Object.assign(dns.promises, functions, servers, { lookup, lookupService, Resolver: resolverOf(functions) });
  Object.assign(dns, callbacks, servers, {
    lookup: Object.assign(called(lookup, split), { [promisify.custom]: lookup }),
    lookupService: called(lookupService),
    Resolver: resolverOf(callbacks),
  });
  syncBuiltinESMExports();
};
