import { isIP } from 'node:net';
import { isNativeError } from 'node:util/types';
import { rootCertificates } from 'node:tls';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { AddressPolicy, type PolicyOptions } from './address-policy.js';
import { connectFailure } from './connect-failure.js';
import { asLookupFunction, guardedLookup, normalizeHost, type GuardedLookup, type Resolver } from './guarded-lookup.js';

export interface EgressOptions extends PolicyOptions {
  /** Addresses and CIDR ranges besides the public internet (`SLUICE_EGRESS_ALLOW`). */
  readonly allow: readonly string[];
  /** Most connections open to one origin at once; further requests wait. Default 128. */
  readonly connections?: number;
  /** Default 5000. Covers lookup, TCP and TLS. */
  readonly connectTimeoutMs?: number;
  /** How long an idle connection is kept, where the server names no time. Default 4000: servers commonly close at 5 s. */
  readonly keepAliveMs?: number;
  /** PEM certificates trusted besides the system's, for operators with their own authority. */
  readonly ca?: readonly string[];
  /** For tests. */
  readonly resolver?: Resolver;
}

/** The one way out to hosts that users name (architecture.md, "Delivery and security decisions"). */
export interface Egress {
  readonly policy: AddressPolicy;
  readonly lookup: GuardedLookup;
  /**
   * Give it to undici. It connects only to addresses that were checked, never follows a redirect, and rejects with
   * EgressRefused for the rest.
   */
  readonly dispatcher: Dispatcher;
  /** Ends all connections; requests that run fail. */
  close(): Promise<void>;
}

export const createEgress = (options: EgressOptions): Egress => {
  const policy = new AddressPolicy(options.allow, options);
  const lookup = guardedLookup(policy, options.resolver);
  const agent = new Agent({
    connect: guardedConnector(policy, lookup, options),
    connections: options.connections ?? 128,
    pipelining: 1,
    keepAliveTimeout: options.keepAliveMs ?? 4000,
    keepAliveMaxTimeout: 60_000,
  });
  return { policy, lookup, dispatcher: agent, close: () => agent.destroy() };
};

/**
 * Names are resolved and checked inside the connect itself and the socket goes to a checked address: there is no time
 * between check and connect. TLS still asks for the name.
 */
const guardedConnector = (
  policy: AddressPolicy,
  lookup: GuardedLookup,
  options: EgressOptions,
): buildConnector.connector => {
  const connect = buildConnector({
    timeout: options.connectTimeoutMs ?? 5000,
    lookup: asLookupFunction(lookup),
    ...(options.ca === undefined ? {} : { ca: [...rootCertificates, ...options.ca] }),
  });
  return (target, callback) => {
    try {
      // net.connect asks no lookup for IP literals.
      const host = normalizeHost(target.hostname);
      if (isIP(host) !== 0) policy.check(target.hostname, host);
    } catch (error) {
      const refused = isNativeError(error) ? error : new Error(String(error));
      queueMicrotask(() => callback(refused, null));
      return;
    }
    const place = `${target.hostname}:${target.port || (target.protocol === 'https:' ? 443 : 80)}`;
    connect(target, (...[error, socket]) => {
      if (error === null) callback(null, socket);
      else callback(connectFailure(error, place), null);
    });
  };
};
