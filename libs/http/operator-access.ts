import { type IncomingMessage } from 'node:http';
import { isLoopback, type TrustedProxies } from './client-address.js';

export const OPERATOR_ACCESS = Symbol('OperatorAccess');

/** Who may read what is for the operator: /metrics, and which checks of /readyz fail. */
export class OperatorAccess {
  constructor(
    /** `loopback`: this machine, without a proxy between; `open`: everybody. */
    private readonly from: 'loopback' | 'open',
    private readonly proxies: TrustedProxies,
  ) {}

  allows(req: IncomingMessage): boolean {
    return this.from === 'open' || (isLoopback(req) && !this.proxies.isForwarded(req));
  }
}
