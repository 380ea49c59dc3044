import { type IncomingMessage } from 'node:http';
import { isLoopback, type TrustedProxies } from './client-address.js';

export const OPERATOR_ACCESS = Symbol('OperatorAccess');

/** Decides which clients may read operator data: /metrics and the failing checks of /readyz. */
export class OperatorAccess {
  constructor(
    /** `loopback` admits this machine without a proxy in between; `open` admits every client. */
    private readonly from: 'loopback' | 'open',
    private readonly proxies: TrustedProxies,
  ) {}

  allows(req: IncomingMessage): boolean {
    return this.from === 'open' || (isLoopback(req) && !this.proxies.isForwarded(req));
  }
}
