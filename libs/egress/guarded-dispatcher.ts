import { isIP } from 'node:net';
import { isNativeError } from 'node:util/types';
import { rootCertificates } from 'node:tls';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { AddressPolicy, type PolicyOptions } from './address-policy.js';
import { readAnswers } from './answer-reader.js';
import { connectFailure } from './connect-failure.js';
import { asLookupFunction, guardedLookup, normalizeHost, type GuardedLookup, type Resolver } from './guarded-lookup.js';

export interface EgressOptions extends PolicyOptions {
  /** Addresses and CIDR ranges allowed besides the public internet (`SLUICE_EGRESS_ALLOW`). */
  readonly allow: readonly string[];
  /** Limit of connections open to one origin, by default 128. Further requests wait. */
  readonly connections?: number;
  /** Time limit for lookup, TCP and TLS together, by default 5000. */
  readonly connectTimeoutMs?: number;
  /** Keep-alive time unless the server names one. Default 4000, because servers often close at 5 s. */
  readonly keepAliveMs?: number;
  /** PEM certificates trusted besides the default ones, for operators with their own authority. */
  readonly ca?: readonly string[];
  /** For tests. */
  readonly resolver?: Resolver;
}

/** Only way out to hosts that users name (docs/reference/component-model.md#egress-guard). */
export interface Egress {
  readonly policy: AddressPolicy;
  readonly lookup: GuardedLookup;
  /**
   * Dispatcher for undici. It connects only to checked addresses and never follows a redirect. Other addresses reject
   * with EgressRefused.
   */
  readonly dispatcher: Dispatcher;
  /** Ends all connections. Requests in flight fail. */
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
 * Resolves and checks names inside the connect itself, and connects to a checked address. A name therefore cannot
 * change between check and connect. TLS still uses the name.
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
      // net.connect does not call the lookup for IP literals.
      const host = normalizeHost(target.hostname);
      if (isIP(host) !== 0) policy.check(target.hostname, host);
    } catch (error) {
      const refused = isNativeError(error) ? error : new Error(String(error));
      queueMicrotask(() => callback(refused, null));
      return;
    }
    const place = `${target.hostname}:${target.port || (target.protocol === 'https:' ? 443 : 80)}`;
    connect(target, (...[error, socket]) => {
      if (error !== null) {
        callback(connectFailure(error, place), null);
        return;
      }
      readAnswers(socket);
      callback(null, socket);
    });
  };
};
