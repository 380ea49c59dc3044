import ipaddr from 'ipaddr.js';
import { ownAddresses } from './own-addresses.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/** Name of the setting that allows refused addresses. */
export const ALLOW_SETTING = 'SLUICE_EGRESS_ALLOW';

const NOT_ALLOWED = 'an address that is not allowed';
const OPERATOR_ALLOWS = `The operator of this server can allow it with ${ALLOW_SETTING}`;

/**
 * Outgoing connection that the policy forbids. No socket was opened. Users read the message. It explains an address that
 * they wrote, but reveals neither the address of a name nor the kind of that address. Operators find both in the log
 * line `egress.refused`.
 */
export class EgressRefused extends Error {
  readonly code = 'EGRESS_REFUSED';

  constructor(
    /** Host as the caller wrote it. */
    readonly host: string,
    /** Address of the host; undefined when host or port are refused before any lookup. */
    readonly address: string | undefined,
    /** Reason such as `loopback address` or `port 25`. Only operators see it when there is an address. */
    readonly reason: string,
    remedy: string,
    /** Entry of the setting that would allow the address. */
    readonly allowEntry?: string | undefined,
  ) {
    super(`refused to connect to ${host}: ${address === undefined ? reason : notAllowed(host, reason)}. ${remedy}`);
    this.name = 'EgressRefused';
  }
}

const notAllowed = (host: string, reason: string): string => {
  const isKnown = reason.endsWith(' address') && (isSpelledOut(host) || (reason === LOOPBACK && isLocalhost(host)));
  return isKnown ? `${NOT_ALLOWED}, because it is ${/^[aeiou]/.test(reason) ? 'an' : 'a'} ${reason}` : NOT_ALLOWED;
};

const LOOPBACK = 'loopback address';

const hostnameOf = (host: string): string => {
  const bare = host.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  const url = `http://${bare.includes(':') ? `[${bare}]` : bare}`;
  return URL.canParse(url) ? new URL(url).hostname : '';
};

/** True for a host that is an address, in any notation, so that an explanation reveals no lookup. */
const isSpelledOut = (host: string): boolean => parse(hostnameOf(host)) !== undefined;

/** The name is reserved for loopback addresses (RFC 6761). */
const isLocalhost = (host: string): boolean => /(?:^|\.)localhost\.?$/.test(hostnameOf(host));

const range = (cidr: string): Range => ipaddr.parseCIDR(cidr);

/**
 * Cloud metadata addresses, which serve credentials and user data to any process on the machine. Some lie in public
 * ranges. Only an entry for exactly that address opens them, never a wider range.
 */
const METADATA: readonly Range[] = [
  '169.254.169.254/32', // AWS, Azure, Google, DigitalOcean, OpenStack
  '169.254.170.2/32', // AWS tasks
  '169.254.170.23/32', // AWS pod identity
  '100.100.100.200/32', // Alibaba
  '168.63.129.16/32', // Azure wire server
  '192.0.0.192/32', // Oracle
  'fd00:ec2::254/128', // AWS
  'fd00:ec2::23/128', // AWS pod identity
  'fd20:ce::254/128', // Google
].map(range);

/** Ranges of the IANA special-purpose registries for IPv4 and IPv6. The first match wins. */
const REFUSED: readonly (readonly [Range, string])[] = (
  [
    ['0.0.0.0/8', 'unspecified address'],
    ['10.0.0.0/8', 'private address'],
    ['100.64.0.0/10', 'carrier-grade NAT address'],
    ['127.0.0.0/8', LOOPBACK],
    ['169.254.0.0/16', 'link-local address'],
    ['172.16.0.0/12', 'private address'],
    ['192.0.0.0/24', 'reserved address'],
    ['192.0.2.0/24', 'documentation address'],
    ['192.31.196.0/24', 'reserved address'],
    ['192.52.193.0/24', 'reserved address'],
    ['192.88.99.0/24', 'reserved address'],
    ['192.168.0.0/16', 'private address'],
    ['192.175.48.0/24', 'reserved address'],
    ['198.18.0.0/15', 'benchmarking address'],
    ['198.51.100.0/24', 'documentation address'],
    ['203.0.113.0/24', 'documentation address'],
    ['224.0.0.0/4', 'multicast address'],
    ['255.255.255.255/32', 'broadcast address'],
    ['240.0.0.0/4', 'reserved address'],
    ['::/128', 'unspecified address'],
    ['::1/128', LOOPBACK],
    ['64:ff9b:1::/48', 'local translation address'],
    ['fc00::/7', 'private (unique local) address'],
    ['fe80::/10', 'link-local address'],
    ['fec0::/10', 'private (site-local) address'],
    ['ff00::/8', 'multicast address'],
    ['2001:2::/48', 'benchmarking address'],
    ['2001:db8::/32', 'documentation address'],
    ['3fff::/20', 'documentation address'],
    ['2001::/23', 'reserved address'],
    ['2620:4f:8000::/48', 'reserved address'],
  ] as const
).map(([cidr, reason]) => [range(cidr), reason] as const);

/** All IPv6 addresses assigned for the public internet. Those outside of it are refused. */
const GLOBAL_UNICAST = range('2000::/3');

const within = (address: Address, [base, bits]: Range): boolean => {
  if (address instanceof ipaddr.IPv4) return base instanceof ipaddr.IPv4 && address.match(base, bits);
  return base instanceof ipaddr.IPv6 && address.match(base, bits);
};

/** Embeddings of IPv4 in IPv6: prefix, start of the four bytes, and whether they are inverted (Teredo clients). */
const EMBEDDINGS: readonly { readonly prefix: Range; readonly at: readonly (readonly [number, boolean])[] }[] = [
  { prefix: range('::ffff:0:0/96'), at: [[12, false]] }, // mapped
  { prefix: range('::ffff:0:0:0/96'), at: [[12, false]] }, // SIIT
  { prefix: range('64:ff9b::/96'), at: [[12, false]] }, // NAT64
  { prefix: range('2002::/16'), at: [[2, false]] }, // 6to4
  {
    prefix: range('2001::/32'), // Teredo: server and client
    at: [
      [4, false],
      [12, true],
    ],
  },
];

const fourBytes = (bytes: readonly number[], start: number, inverted: boolean): ipaddr.IPv4 =>
  new ipaddr.IPv4(bytes.slice(start, start + 4).map((byte) => (inverted ? byte ^ 0xff : byte)));

/** Addresses that a packet to this one finally reaches. */
const targetsOf = (address: Address): readonly Address[] => {
  if (address instanceof ipaddr.IPv4) return [address];
  const bytes = address.toByteArray();
  for (const { prefix, at } of EMBEDDINGS) {
    if (within(address, prefix)) return at.map(([start, inverted]) => fourBytes(bytes, start, inverted));
  }
  // ISATAP uses any prefix and the interface identifier 0[2]00:5efe + IPv4. The address itself is checked too.
  const isatap = (bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
  return isatap ? [address, fourBytes(bytes, 12, false)] : [address];
};

/** Addresses in normal form that a packet to this one finally reaches. Empty for a text that is no address. */
export const reachedBy = (address: string): readonly string[] => {
  const parsed = parse(address);
  return parsed === undefined ? [] : targetsOf(parsed).map((each) => each.toString());
};

const parse = (address: string): Address | undefined => {
  const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  // Accepts canonical dotted IPv4 only. The caller normalises other spellings (guarded-lookup.ts).
  if (ipaddr.IPv4.isValidFourPartDecimal(bare)) return ipaddr.IPv4.parse(bare);
  if (!bare.includes(':') || !URL.canParse(`http://[${bare}]`)) return undefined;
  // ipaddr.js reads ::1.2.3.4 as ::ffff:1.2.3.4, so the URL parser first writes the address in hex.
  return ipaddr.IPv6.parse(new URL(`http://[${bare}]`).hostname.slice(1, -1));
};

const parseEntry = (entry: string): Range => {
  const [text = '', suffix, ...rest] = entry.trim().split('/');
  const base = parse(text);
  const longest = base instanceof ipaddr.IPv4 ? 32 : 128;
  const bits = suffix === undefined ? longest : /^\d{1,3}$/.test(suffix) ? Number(suffix) : Infinity;
  if (base === undefined || bits > longest || rest.length > 0) {
    const example =
      text.toLowerCase() === 'localhost' ? '127.0.0.1/32' : 'for example 10.0.0.0/8, 127.0.0.1/32 or fd00::/8';
    throw new Error(`${ALLOW_SETTING}: ${JSON.stringify(entry)} is not an address or CIDR range; write ${example}`);
  }
  // ::ffff:10.0.0.0/104 means 10.0.0.0/8, because addresses are compared in plain form.
  if (base instanceof ipaddr.IPv6 && base.isIPv4MappedAddress() && bits >= 96) {
    return [base.toIPv4Address(), bits - 96];
  }
  return [base, bits];
};

export interface PolicyOptions {
  /** Addresses of this machine, by default those of its network interfaces. */
  readonly ownAddresses?: () => readonly string[];
  /** Called before each refusal is thrown. */
  readonly onRefused?: (refused: EgressRefused) => void;
}

/**
 * Decides which addresses the hosts named by users may have. Permits the public internet without this machine, and the
 * addresses that the operator allows. An IPv6 form that embeds an IPv4 address is judged by that address.
 */
export class AddressPolicy {
  private readonly allowed: readonly Range[];

  /** @param allow addresses and CIDR ranges (`SLUICE_EGRESS_ALLOW`). Throws an Error that names a wrong entry. */
  constructor(
    allow: readonly string[] = [],
    private readonly options: PolicyOptions = {},
  ) {
    this.allowed = allow.filter((entry) => entry.trim() !== '').map(parseEntry);
  }

  /** Returns the reason for a refusal, or undefined when permitted. Refuses a text that is not an IP address. */
  refusal(address: string): string | undefined {
    const parsed = parse(address);
    if (parsed === undefined) return 'not an IP address';
    if (this.allows(parsed)) return undefined;
    for (const target of targetsOf(parsed)) {
      const reason = this.judge(target);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  /** Throws EgressRefused unless the address is permitted. `host` is what the user wrote. */
  check(host: string, address: string): void {
    const reason = this.refusal(address);
    if (reason === undefined) return;
    throw this.noted(refusedFor(host, address, reason));
  }

  /** Reports to `onRefused` a refusal that another part of the guard decided. Returns it. */
  noted(refused: EgressRefused): EgressRefused {
    this.options.onRefused?.(refused);
    return refused;
  }

  /** Whether a packet to this address stays on this machine. */
  isHere(address: string): boolean {
    const own = (this.options.ownAddresses ?? ownAddresses)();
    return reachedBy(address).some(
      (reached) => /^(?:loopback|unspecified)$/.test(ipaddr.parse(reached).range()) || own.includes(reached),
    );
  }

  /**
   * The refusal of a connection to this host of a URL, as far as its text shows. Undefined for a permitted address, and
   * for a name other than localhost, because no name is looked up.
   */
  refusalOfHost(host: string): EgressRefused | undefined {
    const addresses = isLocalhost(host) ? ['127.0.0.1', '::1'] : isSpelledOut(host) ? [hostnameOf(host)] : [];
    const reasons = addresses.map((address) => this.refusal(address));
    const [reason] = reasons;
    const [address] = addresses;
    if (address === undefined || reason === undefined || reasons.includes(undefined)) return undefined;
    return refusedFor(host, address, reason);
  }

  private judge(target: Address): string | undefined {
    if (this.allows(target)) return undefined;
    if (METADATA.some((entry) => within(target, entry))) return 'cloud metadata address';
    const hit = REFUSED.find(([entry]) => within(target, entry));
    if (hit !== undefined) return hit[1];
    if (target instanceof ipaddr.IPv6 && !within(target, GLOBAL_UNICAST)) return 'reserved address';
    const own = (this.options.ownAddresses ?? ownAddresses)();
    return own.some((one) => parse(one)?.toString() === target.toString()) ? 'address of this machine' : undefined;
  }

  private allows(address: Address): boolean {
    const metadata = METADATA.some((entry) => within(address, entry));
    return this.allowed.some((entry) => within(address, entry) && (!metadata || isExact(entry)));
  }
}

const refusedFor = (host: string, address: string, reason: string): EgressRefused => {
  const entry = exactEntry(address);
  const remedy = isSpelledOut(host) && entry !== undefined ? `${OPERATOR_ALLOWS}=${entry}` : OPERATOR_ALLOWS;
  return new EgressRefused(host, address, reason, remedy, entry);
};

const isExact = ([base, bits]: Range): boolean => bits === (base instanceof ipaddr.IPv4 ? 32 : 128);

/** Entry for the setting, in plain IPv4 when the address embeds one. */
const exactEntry = (address: string): string | undefined => {
  const parsed = parse(address);
  if (parsed === undefined) return undefined;
  const target = targetsOf(parsed).find((each) => each instanceof ipaddr.IPv4) ?? parsed;
  return `${target.toString()}/${target instanceof ipaddr.IPv4 ? 32 : 128}`;
};
