import { isIP, type Socket } from 'node:net';
import { isNativeError } from 'node:util/types';
import { rootCertificates } from 'node:tls';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { withDeadline } from '#libs/async/deadline.js';
import { AddressPolicy, type PolicyOptions } from './address-policy.js';
import { readAnswers } from './answer-reader.js';
import { CONNECT_TIMED_OUT, connectFailure } from './connect-failure.js';
import { asLookupFunction, guardedLookup, normalizeHost, type GuardedLookup, type Resolver } from './guarded-lookup.js';
import { OutgoingProxy, type OutgoingProxyOptions } from './outgoing-proxy.js';

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
  /** The operator's proxy for all connections, except to exempt hosts. */
  readonly proxy?: Pick<OutgoingProxyOptions, 'server' | 'noProxy' | 'resolvesNames' | 'logger'> | undefined;
  /** For tests. */
  readonly resolver?: Resolver;
}

/** Only way out to hosts that users name (docs/reference/component-model.md#egress-guard). */
export interface Egress {
  readonly policy: AddressPolicy;
  readonly lookup: GuardedLookup;
  readonly proxy: OutgoingProxy | undefined;
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
  const { ca, resolver } = options;
  const proxy = options.proxy && new OutgoingProxy({ ...options.proxy, ca: trusted(ca), resolver }, policy);
  const agent = new Agent({
    connect: guardedConnector(policy, lookup, proxy, options),
    connections: options.connections ?? 128,
    pipelining: 1,
    keepAliveTimeout: options.keepAliveMs ?? 4000,
    keepAliveMaxTimeout: 60_000,
  });
  return { policy, lookup, proxy, dispatcher: agent, close: () => agent.destroy() };
};

const trusted = (ca: EgressOptions['ca']): readonly string[] | undefined => ca && [...rootCertificates, ...ca];

/**
 * Resolves and checks names inside the connect itself, and connects to a checked address. A name therefore cannot
 * change between check and connect. TLS still uses the name.
 */
const guardedConnector = (
  policy: AddressPolicy,
  lookup: GuardedLookup,
  proxy: OutgoingProxy | undefined,
  options: EgressOptions,
): buildConnector.connector => {
  const ca = trusted(options.ca);
  const timeout = options.connectTimeoutMs ?? 5000;
  const connect = buildConnector({
    timeout,
    lookup: asLookupFunction(lookup),
    ...(ca === undefined ? {} : { ca: [...ca] }),
  });
  const direct: buildConnector.connector = (target, callback) => {
    try {
      // net.connect does not call the lookup for IP literals.
      const host = normalizeHost(target.hostname);
      if (isIP(host) !== 0) policy.check(target.hostname, host);
    } catch (error) {
      queueMicrotask(() => callback(asError(error), null));
      return;
    }
    connect(target, callback);
  };
  const way = proxy === undefined ? direct : proxied(proxy, lookup, timeout, direct, connect);
  return (target, callback) => {
    way(target, (...[error, socket]) => {
      if (error !== null) {
        callback(connectFailure(error, placeOf(target)), null);
        return;
      }
      readAnswers(socket);
      callback(null, socket);
    });
  };
};

/** Connects through the proxy, or directly to hosts that are exempt from it. */
const proxied =
  (
    proxy: OutgoingProxy,
    lookup: GuardedLookup,
    timeoutMs: number,
    direct: buildConnector.connector,
    connect: buildConnector.connector,
  ): buildConnector.connector =>
  (target, callback) => {
    const port = portOf(target);
    const place = placeOf(target);
    const aborter = new AbortController();
    const late = (): Error => {
      const error = Object.assign(new Error(`no connection within ${timeoutMs} ms`), { code: CONNECT_TIMED_OUT });
      aborter.abort(error);
      return error;
    };
    const opened = async (): Promise<Socket | undefined> => {
      const route = await proxy.route(target.hostname, port, lookup);
      return route.isDirect ? undefined : proxy.connectFirst(route, port, place, { signal: aborter.signal });
    };
    withDeadline(opened(), timeoutMs, late).then(
      (socket) => {
        if (socket === undefined) direct(target, callback);
        else if (target.protocol === 'https:') connect({ ...target, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: unknown) => callback(asError(error), null),
    );
  };

const asError = (error: unknown): Error => (isNativeError(error) ? error : new Error(String(error)));

const portOf = ({ port, protocol }: buildConnector.Options): number =>
  Number(port || (protocol === 'https:' ? 443 : 80));

const placeOf = (target: buildConnector.Options): string => `${target.hostname}:${portOf(target)}`;
