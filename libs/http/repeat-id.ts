import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { type Request } from 'express';
import { repeatIdOf } from './request-state.js';

/** Injects the `RepeatId` of a request with an Idempotency-Key, undefined for any other. */
export const RequestRepeatId = createParamDecorator((_: unknown, context: ExecutionContext) =>
  repeatIdOf(context.switchToHttp().getRequest<Request>()),
);
