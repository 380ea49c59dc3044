import { Inject, Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { type Request } from 'express';
import { type Observable } from 'rxjs';
import { isPosition } from '#libs/kernel/events.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { ReadYourWritesGate, POSITION_HEADER } from './read-your-writes-gate.js';

/** Answers a request with a log position from read models that hold it (docs/reference/rest-api.md#position-wait). */
@Injectable()
export class PositionInterceptor implements NestInterceptor {
  constructor(@Inject(ReadYourWritesGate) private readonly gate: ReadYourWritesGate) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const given = context.switchToHttp().getRequest<Request>().headers[POSITION_HEADER.toLowerCase()];
    if (given === undefined) return next.handle();
    if (typeof given !== 'string' || !isPosition(given)) {
      throw new DomainError(
        'request.invalid_parameter',
        `header ${POSITION_HEADER} must be the value of that header in the reply to a change; got ${String(given).slice(0, 40)}`,
        { field: POSITION_HEADER, actual: String(given).slice(0, 40) },
      );
    }
    await this.gate.wait(given);
    return next.handle();
  }
}
