import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Hosts that are reached without the proxy (`NO_PROXY`). */
export interface NoProxy {
  hasName(name: string, port: number): boolean;
  hasAddress(address: string, port: number): boolean;
}

interface Entry {
  readonly host: string;
  readonly port: number | undefined;
  readonly range: [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined;
}

const ENTRY = /^(\*|\*?\.?[\p{L}\p{N}_.-]+|\[[0-9a-f:.]+\]|[0-9a-f:.]+)(\/\d{1,3})?(?::(\d{1,5}))?$/iu;

/**
 * Reads an entry: a name, which covers the names below it too, an address, a CIDR range, or `*` for every host; name and
 * address with a port if need be. Undefined for any other text.
 */
const entryOf = (text: string): Entry | undefined => {
  if (isIP(text) === 6) return { host: text, port: undefined, range: [ipaddr.parse(text), 128] };
  const [, given = '', suffix, port] = ENTRY.exec(text) ?? [];
  if (given === '') return undefined;
  const host = given
    .replace(/^\[|\]$/g, '')
    .replace(/^\*?\.(?=.)/, '')
    .replace(/\.$/, '')
    .toLowerCase();
  const family = isIP(host);
  const bits = suffix === undefined ? (family === 6 ? 128 : 32) : Number(suffix.slice(1));
  if (suffix !== undefined && (family === 0 || bits > (family === 6 ? 128 : 32))) return undefined;
  return {
    host,
    port: port === undefined ? undefined : Number(port),
    range: family === 0 ? undefined : [ipaddr.parse(host), bits],
  };
};

/** Returns why an entry is wrong, or undefined. */
export const wrongNoProxy = (text: string): string | undefined =>
  entryOf(text) === undefined
    ? `${JSON.stringify(text)} is no host: write it like internal.example, 10.0.0.0/8 or *`
    : undefined;

export const noProxyOf = (texts: readonly string[]): NoProxy => {
  const entries = texts.flatMap((text) => entryOf(text) ?? []);
  const onPort = ({ port }: Entry, asked: number): boolean => port === undefined || port === asked;
  return {
    hasName: (name, port) =>
      entries.some(
        (entry) =>
          onPort(entry, port) && (entry.host === '*' || entry.host === name || name.endsWith(`.${entry.host}`)),
      ),
    hasAddress: (address, port) => {
      const parsed = ipaddr.process(address);
      return entries.some(
        (entry) =>
          onPort(entry, port) &&
          (entry.host === '*' || (entry.range?.[0].kind() === parsed.kind() && parsed.match(entry.range))),
      );
    },
  };
};
