import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type Request } from 'express';
import { DomainError } from '#libs/kernel/domain-error.js';
import { OPEN_TO_TOOLS_KEYS } from './access.js';
import { callerIfAny } from './request-state.js';

/**
 * Refuses keys for tools only (docs/reference/rest-api.md#api-key-tools). A route is closed to them unless it is marked,
 * so no route can forget it.
 */
@Injectable()
export class ToolsKeyGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const caller = callerIfAny(context.switchToHttp().getRequest<Request>());
    if (caller?.tools === undefined) return true;
    const target = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean | undefined>(OPEN_TO_TOOLS_KEYS, target) === true) return true;
    throw new DomainError(
      'auth.tools_only_key',
      'this API key opens its tools at POST /mcp and nothing else: send a key without tools',
      { api_key_id: caller.apiKeyId },
    );
  }
}
