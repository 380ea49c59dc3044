import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

// Imports nothing of Sluice, because the process that fetches packages is bundled with it.

/** An HTTP proxy that accepts CONNECT. */
export interface ProxyServer {
  readonly isTls: boolean;
  /** Name or address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** Value of `Proxy-Authorization`. Secret. */
  readonly authorization: string | undefined;
}

export interface ProxyConnectOptions {
  /** Ends the attempt. It then rejects with the reason. */
  readonly signal: AbortSignal;
  readonly allowHalfOpen?: boolean;
  /** Certificates trusted for a proxy that speaks TLS. */
  readonly ca?: readonly string[] | undefined;
  /** Called with the socket before it connects. */
  readonly made?: (socket: Socket) => void;
}

/** The proxy opened no connection. The message names neither the proxy nor its credentials, because users read it. */
export class ProxyFailed extends Error {
  constructor(
    place: string,
    /** `PROXY_UNREACHABLE`, `PROXY_AUTHENTICATION`, `PROXY_NO_ANSWER`, or `PROXY_STATUS_` with the status of its answer. */
    readonly code: string,
    /** The proxy itself fails, and not the connection that it was asked for. */
    readonly isOwnFault: boolean,
    cause?: Error,
  ) {
    super(`could not connect to ${place} through the outgoing proxy of this server (${code})`, { cause });
    this.name = 'ProxyFailed';
  }
}

/** Longest answer to CONNECT. */
const MAX_ANSWER_BYTES = 16 * 1024;

/** Reads the URL of a proxy: http or https, with a user and password if need be. Undefined for any other text. */
export const proxyServerOf = (text: string): ProxyServer | undefined => {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
  if (!/^https?:$/.test(protocol) || hostname === '' || pathname !== '/' || search !== '' || hash !== '')
    return undefined;
  const isTls = protocol === 'https:';
  const userinfo = unescaped(`${username}:${password}`);
  if (userinfo === undefined) return undefined;
  return {
    isTls,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isTls ? 443 : 80) : Number(port),
    authorization: username === '' ? undefined : `Basic ${Buffer.from(userinfo).toString('base64')}`,
  };
};

const unescaped = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/**
 * Asks the proxy for a connection to `host:port` with CONNECT, and resolves to it. TLS with the host is the caller's.
 * `place` names the target in errors. Rejects with ProxyFailed or the reason of the signal.
 */
export const connectThrough = (
  proxy: ProxyServer,
  { host, port, place }: { readonly host: string; readonly port: number; readonly place: string },
  { signal, allowHalfOpen = false, ca, made }: ProxyConnectOptions,
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const address = { host: proxy.host, port: proxy.port, allowHalfOpen };
    const socket = proxy.isTls
      ? connectTls({
          ...address,
          ...(isIP(proxy.host) === 0 ? { servername: proxy.host } : {}),
          ...(ca ? { ca: [...ca] } : {}),
        })
      : connect(address);
    made?.(socket);
    let isConnected = false;
    let read: Buffer = Buffer.alloc(0);
    const over = (error: Error | undefined): void => {
      signal.removeEventListener('abort', onAbort);
      socket.removeListener('error', onError);
      socket.removeListener('close', onClose);
      socket.removeListener('end', onClose);
      socket.removeListener('readable', onReadable);
      if (error === undefined) return resolve(socket);
      socket.on('error', () => undefined);
      socket.destroy();
      reject(error);
    };
    const failed = (code: string, isOwnFault: boolean, cause?: Error): void =>
      over(new ProxyFailed(place, code, isOwnFault, cause));
    const onAbort = (): void => over(signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason)));
    const onError = (error: Error): void => failed(isConnected ? 'PROXY_NO_ANSWER' : 'PROXY_UNREACHABLE', true, error);
    const onClose = (): void => failed(isConnected ? 'PROXY_NO_ANSWER' : 'PROXY_UNREACHABLE', true);
    const onReadable = (): void => {
      for (let chunk: unknown; (chunk = socket.read()) !== null;) read = Buffer.concat([read, chunk as Buffer]);
      const end = read.indexOf('\r\n\r\n');
      if (end < 0) {
        if (read.length > MAX_ANSWER_BYTES || socket.readableEnded) failed('PROXY_NO_ANSWER', true);
        return;
      }
      const fault = faultOf(read.toString('latin1', 0, end));
      if (fault) return failed(fault.code, fault.isOwn);
      const rest = read.subarray(end + 4);
      if (rest.length > 0) socket.unshift(rest);
      over(undefined);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    socket.on('error', onError);
    socket.on('close', onClose);
    socket.once(proxy.isTls ? 'secureConnect' : 'connect', () => {
      isConnected = true;
      socket.setNoDelay(true);
      socket.setKeepAlive(true, 60_000);
      socket.on('readable', onReadable);
      socket.on('end', onClose);
      socket.write(requestFor(proxy, host, port));
    });
  });

/** Why a head is not the proxy's consent, and whether that is the proxy's own fault. */
const faultOf = (head: string): { readonly code: string; readonly isOwn: boolean } | undefined => {
  const status = Number(/^HTTP\/1\.\d (\d{3})/.exec(head)?.[1] ?? 0);
  if (status === 0) return { code: 'PROXY_NO_ANSWER', isOwn: true };
  if (status === 407) return { code: 'PROXY_AUTHENTICATION', isOwn: true };
  return status < 200 || status > 299 ? { code: `PROXY_STATUS_${status}`, isOwn: false } : undefined;
};

const requestFor = ({ authorization }: ProxyServer, host: string, port: number): string => {
  const authority = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const credentials = authorization === undefined ? '' : `Proxy-Authorization: ${authorization}\r\n`;
  return `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${credentials}\r\n`;
};
