import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { type Request } from 'express';
import { isLoopbackHost } from '#libs/http/client-address.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { MCP_SETTINGS, type McpSettings } from '../ports.js';

/**
 * Refuses pages of other origins, because a page can reach a server of this machine by a name of its own. Programs
 * send no `Origin`. Throws tools.origin_not_allowed.
 */
@Injectable()
export class OriginGuard implements CanActivate {
  constructor(@Inject(MCP_SETTINGS) private readonly settings: Pick<McpSettings, 'publicUrl' | 'origins'>) {}

  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<Request>();
    const { origin, host = '' } = headers;
    if (origin === undefined || this.isAllowed(origin, host)) return true;
    const actual = origin.slice(0, 200);
    throw new DomainError(
      'tools.origin_not_allowed',
      `pages of ${actual} may not call tools: add the origin to SLUICE_CORS_ORIGINS`,
      { field: 'origin', actual, setting: 'SLUICE_CORS_ORIGINS' },
    );
  }

  private isAllowed(origin: string, host: string): boolean {
    const { publicUrl, origins } = this.settings;
    if (origins.includes('*') || origins.includes(origin)) return true;
    if (publicUrl !== null) return origin === new URL(publicUrl).origin;
    // The name must be one of this machine, because any other can be made to lead here.
    return isLoopbackHost(host) && (origin === `http://${host}` || origin === `https://${host}`);
  }
}
