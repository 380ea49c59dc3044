import { type IncomingMessage } from 'node:http';
import { isLoopback, isLoopbackHost, type TrustedProxies } from './client-address.js';

export const OPERATOR_ACCESS = Symbol('OperatorAccess');

/**
 * Decides which clients may read operator data: /metrics and the failing checks of /readyz
 * (docs/reference/rest-api.md#operator-access).
 */
export class OperatorAccess {
  private readonly isPublic: boolean;

  /**
   * @param from `loopback` admits this machine without a proxy in between; `open` admits every client.
   * @param publicUrl where users reach the server; null when only this machine does.
   */
  constructor(
    private readonly from: 'loopback' | 'open',
    private readonly proxies: TrustedProxies,
    publicUrl: string | null = null,
  ) {
    this.isPublic = publicUrl !== null && !isLoopbackHost(new URL(publicUrl).host);
  }

  allows(req: IncomingMessage): boolean {
    if (this.from === 'open') return true;
    if (!isLoopback(req) || this.proxies.isForwarded(req)) return false;
    // A proxy on this machine that adds no header still forwards the host that its client requested.
    return !this.isPublic || isLoopbackHost(req.headers.host ?? '');
  }
}
