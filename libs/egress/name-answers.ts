import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { EgressRefused, type AddressPolicy } from './address-policy.js';
import { type GuardedLookup, normalizeHost } from './guarded-lookup.js';
import { type LookupTurns } from './lookup-turns.js';

/** Types of records that a component may ask for, besides addresses. */
const RECORDS = ['CAA', 'CNAME', 'MX', 'NAPTR', 'NS', 'PTR', 'SOA', 'SRV', 'TXT'] as const;
type RecordType = (typeof RECORDS)[number];

/** Looks up the records of a name. Rejects with the code of the resolver (`ENOTFOUND`, `ENODATA`, …). */
export type RecordResolver = (name: string, type: RecordType) => Promise<unknown>;

/** Bytes of one answer. */
const MAX_ANSWER = 64 * 1024;
const RECORD_MS = 3_000;

const systemRecords: RecordResolver = (name, type) =>
  new Resolver({ timeout: RECORD_MS, tries: 2 }).resolve(name, type);

/** Zones that only the network of the server knows. Their records reveal its machines. */
const INNER = /(?:^[^.]*|\.(?:local|localhost|localdomain|internal|intranet|private|corp|home|lan|arpa))$/;

/** Resolvers for the look-ups of one workspace. */
export interface Names {
  readonly policy: AddressPolicy;
  readonly lookup: GuardedLookup;
  readonly turns: LookupTurns;
  readonly workspaceId: string;
  readonly records?: RecordResolver;
  /** The outgoing proxy resolves names, and this server may know none of them. */
  readonly areElsewhere?: boolean;
}

/** Whether a request line is a look-up instead of a connection. */
export const isLookup = (line: string): boolean => line.startsWith('LOOKUP ');

/**
 * Answers `LOOKUP <type> <name>`, the type being ADDRESS or that of a record, with one line of JSON. ADDRESS returns
 * the addresses that a connection to the name would use, because the same decision answers both. Rejects with
 * EgressRefused, with the code BAD_REQUEST or TOO_MANY_LOOKUPS, or with the resolver's error.
 */
export const answerLookup = async (line: string, names: Names, isWanted: () => boolean): Promise<string> => {
  const [, type, host] = /^LOOKUP ([A-Z]{1,10}) (\S{1,255})\r?$/.exec(line) ?? [];
  if (type === undefined || host === undefined) throw coded('BAD_REQUEST', 'expected "LOOKUP <type> <name>"');
  const asked = type === 'ADDRESS' ? names.lookup(host) : recordsOf(host, type, names, isWanted);
  const answer = JSON.stringify(await (names.areElsewhere === true ? asked.catch(sayElsewhere) : asked));
  if (Buffer.byteLength(answer) <= MAX_ANSWER) return answer;
  throw coded('EBADRESP', `the answer for ${host} has more than ${MAX_ANSWER} bytes`);
};

/** Adds the way out to the error of a resolver. */
const sayElsewhere = (error: unknown): never => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'EFAIL';
  if (error instanceof EgressRefused || code === 'BAD_REQUEST' || code === 'TOO_MANY_LOOKUPS') throw error;
  throw coded(code, `${messageOf(error)}: the outgoing proxy of this server resolves names, so connect by name`);
};

const coded = (code: string, text: string): Error => Object.assign(new Error(text), { code });

const recordsOf = async (host: string, type: string, names: Names, isWanted: () => boolean): Promise<unknown> => {
  const known = RECORDS.find((record) => record === type);
  if (known === undefined) throw coded('BAD_REQUEST', `records of type ${type} cannot be looked up`);
  const name = nameOf(host);
  const address = known === 'PTR' ? addressOf(name) : undefined;
  if (address !== undefined) names.policy.check(host, address);
  else if (INNER.test(name)) throw innerName(host);
  const ask = names.records ?? systemRecords;
  return names.turns.run(names.workspaceId, isWanted, () => ask(name, known));
};

/** Records may have names with underscores, which no URL has. */
const nameOf = (host: string): string => {
  const name = host.toLowerCase().replace(/\.$/, '');
  if (/^(?:[\w-]{1,63}\.)*[\w-]{1,63}$/.test(name)) return name;
  return normalizeHost(host);
};

const innerName = (host: string): EgressRefused =>
  new EgressRefused(host, undefined, 'its zone belongs to the network of the server', 'Ask for a public name');

/** Address of a name for reverse look-ups (`1.0.0.10.in-addr.arpa`), or undefined. */
const addressOf = (name: string): string | undefined => {
  const four = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.in-addr\.arpa$/.exec(name);
  if (four) {
    const address = four.slice(1).reverse().join('.');
    return isIP(address) === 4 ? address : undefined;
  }
  const six = /^((?:[0-9a-f]\.){32})ip6\.arpa$/.exec(name)?.[1];
  if (six === undefined) return undefined;
  const digits = six.split('.').reverse().join('');
  return ipaddr.parse((digits.match(/.{4}/g) ?? []).join(':')).toString();
};
