import { type Socket, isIP } from 'node:net';
import { type AddressPolicy, EgressRefused, reachedBy } from './address-policy.js';
import { type GuardedLookup, normalizeHost, type Resolver, systemResolver } from './guarded-lookup.js';
import { noProxyOf, type NoProxy } from './no-proxy.js';
import { connectThrough, ProxyFailed, type ProxyConnectOptions, type ProxyServer } from './proxy-connect.js';

export interface OutgoingProxyOptions {
  readonly server: ProxyServer;
  /** Entries of `NO_PROXY`. */
  readonly noProxy: readonly string[];
  /** Passes names to the proxy, which alone decides about their addresses (`SLUICE_EGRESS_PROXY_RESOLVES`). */
  readonly resolvesNames: boolean;
  /** PEM certificates trusted for a proxy that speaks TLS. */
  readonly ca?: readonly string[] | undefined;
  readonly logger?: ProxyLogger | undefined;
  /** For tests. */
  readonly resolver?: Resolver | undefined;
}

export interface ProxyLogger {
  warn(fields: object, message: string): void;
}

/** Way to a permitted host. */
export interface Route {
  /** Checked addresses, or the one name that the proxy resolves. */
  readonly hosts: readonly string[];
  readonly isDirect: boolean;
}

/** Time for which the addresses of the proxy are kept. */
const ADDRESSES_KEPT_MS = 30_000;
const MAX_ADDRESSES = 64;

/**
 * The operator's proxy (docs/reference/component-model.md#egress-proxy). Only the guard connects to it: a host that a
 * user names is refused when it leads to the proxy's own port, because a connection to the proxy could ask it for any
 * address.
 */
export class OutgoingProxy {
  private readonly noProxy: NoProxy;
  private readonly own = new Set<string>();
  private askedAt = -Infinity;
  private asking: Promise<void> | undefined;
  private isFailing = false;

  constructor(
    private readonly options: OutgoingProxyOptions,
    private readonly policy: AddressPolicy,
  ) {
    this.noProxy = noProxyOf(options.noProxy);
  }

  get resolvesNames(): boolean {
    return this.options.resolvesNames;
  }

  /** Decides about a host that a user named. Rejects with EgressRefused, or with the error of the look-up. */
  async route(host: string, port: number, lookup: GuardedLookup): Promise<Route> {
    const { server, resolvesNames } = this.options;
    const name = normalizeHost(host);
    const isName = isIP(name) === 0;
    const isExempt = isName && this.noProxy.hasName(name, port);
    if (isName && name === server.host && port === server.port) this.refuse(host, undefined);
    if (resolvesNames && isName && !isExempt) {
      const refused = this.policy.refusalOfHost(name);
      if (refused !== undefined) throw this.policy.noted(refused);
      return { hosts: [name], isDirect: false };
    }
    const addresses = (await lookup(host)).map(({ address }) => address);
    if (port === server.port) await this.refuseOwn(host, addresses);
    const isDirect = isExempt || addresses.some((address) => this.noProxy.hasAddress(address, port));
    return { hosts: addresses, isDirect };
  }

  /** Connects to a host of a route. Rejects with ProxyFailed or the reason of the signal. */
  async connect(
    target: { readonly host: string; readonly port: number; readonly place: string },
    options: ProxyConnectOptions,
  ): Promise<Socket> {
    try {
      const socket = await connectThrough(this.options.server, target, { ...options, ca: this.options.ca });
      this.tell(undefined);
      return socket;
    } catch (error) {
      if (error instanceof ProxyFailed) this.tell(error.isOwnFault ? error : undefined);
      throw error;
    }
  }

  /** Connects to the first host of a route that can be reached. */
  async connectFirst(route: Route, port: number, place: string, options: ProxyConnectOptions): Promise<Socket> {
    let last: unknown;
    for (const host of route.hosts) {
      try {
        return await this.connect({ host, port, place }, options);
      } catch (error) {
        last = error;
        if (options.signal.aborted) break;
      }
    }
    throw last;
  }

  private async refuseOwn(host: string, addresses: readonly string[]): Promise<void> {
    await this.learnOwn();
    const isOwnHere = [...this.own].some((address) => this.policy.isHere(address));
    const own = addresses.find(
      (address) =>
        reachedBy(address).some((reached) => this.own.has(reached)) || (isOwnHere && this.policy.isHere(address)),
    );
    if (own !== undefined) this.refuse(host, own);
  }

  private refuse(host: string, address: string | undefined): never {
    const reason = 'address of the outgoing proxy, which only the server itself may use';
    throw this.policy.noted(new EgressRefused(host, address, reason, 'Name the host that you want to reach'));
  }

  /** Adds to the proxy's former addresses, because a name may have different ones over time. */
  private learnOwn(): Promise<void> {
    const { server, resolver = systemResolver } = this.options;
    if (isIP(server.host) !== 0) return Promise.resolve(this.addOwn([server.host]));
    if (performance.now() - this.askedAt < ADDRESSES_KEPT_MS) return Promise.resolve();
    this.asking ??= resolver(server.host)
      .then((found) => {
        this.askedAt = performance.now();
        this.addOwn(found.map(({ address }) => address));
      })
      .finally(() => (this.asking = undefined));
    return this.asking;
  }

  private addOwn(addresses: readonly string[]): void {
    for (const address of addresses.flatMap(reachedBy)) this.own.add(address);
    for (const address of this.own) {
      if (this.own.size <= MAX_ADDRESSES) break;
      this.own.delete(address);
    }
  }

  /** Writes one line when the proxy fails and one when it works again. */
  private tell(failure: ProxyFailed | undefined): void {
    const isFailing = failure !== undefined;
    if (isFailing === this.isFailing) return;
    this.isFailing = isFailing;
    const { host, port } = this.options.server;
    const proxy = `${host}:${port}`;
    if (failure === undefined) this.options.logger?.warn({ proxy }, 'egress.proxy_works_again');
    else this.options.logger?.warn({ proxy, code: failure.code, err: failure.cause }, 'egress.proxy_fails');
  }
}
