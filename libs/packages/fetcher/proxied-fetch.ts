import { lookup } from 'node:dns/promises';
import { isIP, type Socket } from 'node:net';
import { Agent, buildConnector, fetch as fetchThrough } from 'undici';
import { noProxyOf } from '#libs/egress/no-proxy.js';
import { connectThrough, proxyServerOf } from '#libs/egress/proxy-connect.js';
import { type ProxyOrder } from './message.js';

const CONNECT_MS = 10_000;

/** Requests registries through the operator's proxy, by address unless the proxy resolves names. */
export const proxiedFetch = ({ url, noProxy, resolvesNames }: ProxyOrder): typeof fetch => {
  const server = proxyServerOf(url);
  if (server === undefined) throw new Error('the URL of the outgoing proxy cannot be used');
  const exempt = noProxyOf(noProxy);
  const connect = buildConnector({ timeout: CONNECT_MS });
  const opened = async (host: string, port: number): Promise<Socket | undefined> => {
    const isName = isIP(host) === 0;
    if (isName && exempt.hasName(host, port)) return undefined;
    const asksByName = isName && resolvesNames;
    const address = !isName || asksByName ? host : (await lookup(host)).address;
    if (!asksByName && exempt.hasAddress(address, port)) return undefined;
    const target = { host: address, port, place: `${host}:${port}` };
    return connectThrough(server, target, { signal: AbortSignal.timeout(CONNECT_MS) });
  };
  const dispatcher = new Agent({
    connect: (target, callback) => {
      const host = target.hostname.replace(/^\[|\]$/g, '').toLowerCase();
      opened(host, Number(target.port || (target.protocol === 'https:' ? 443 : 80))).then(
        (socket) => {
          if (socket === undefined) connect(target, callback);
          else if (target.protocol === 'https:') connect({ ...target, httpSocket: socket }, callback);
          else callback(null, socket);
        },
        (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
      );
    },
  });
  // The types of undici's fetch and of Node's differ in names only.
  return ((...[input, init]: Parameters<typeof fetchThrough>) =>
    fetchThrough(input, { ...init, dispatcher })) as unknown as typeof fetch;
};
