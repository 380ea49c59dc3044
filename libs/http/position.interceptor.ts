import { Inject, Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { mergeMap, type Observable } from 'rxjs';
import { DomainError } from '#libs/kernel/domain-error.js';
import { isPosition, type Position } from '#libs/kernel/events.js';
import { type ReadYourWrites } from '#libs/kernel/read-your-writes.js';
import { READ_YOUR_WRITES } from '#libs/kernel/tokens.js';
import { Changed } from './changed.js';
import { HTTP_SETTINGS, type HttpSettings } from './http-settings.js';

const POSITION_HEADER = 'X-Sluice-Position';

/**
 * Delays a command's answer until the read models contain its writes. Delays a request with a log position until they
 * have reached it (docs/reference/rest-api.md#read-your-writes, docs/reference/rest-api.md#position-wait).
 */
@Injectable()
export class PositionInterceptor implements NestInterceptor {
  constructor(
    @Inject(READ_YOUR_WRITES) private readonly readModels: ReadYourWrites,
    @Inject(HTTP_SETTINGS) private readonly settings: HttpSettings,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const given = http.getRequest<Request>().headers[POSITION_HEADER.toLowerCase()];
    if (given !== undefined) await this.reach(given);
    return next
      .handle()
      .pipe(
        mergeMap(async (reply: unknown) =>
          reply instanceof Changed ? this.answer(reply, http.getResponse<Response>()) : reply,
        ),
      );
  }

  /** Waits before the route is called. Throws request.invalid_parameter or request.not_caught_up. */
  private async reach(given: string | readonly string[]): Promise<void> {
    if (typeof given !== 'string' || !isPosition(given)) {
      throw new DomainError(
        'request.invalid_parameter',
        `header ${POSITION_HEADER} must be the value of that header in the reply to a change; got ${String(given).slice(0, 40)}`,
        { field: POSITION_HEADER, actual: String(given).slice(0, 40) },
      );
    }
    const ms = this.settings.appliedTimeoutMs;
    if (await this.readModels.waitFor(given, ms)) return;
    throw notCaughtUp(`reads have not reached log position ${given} after ${ms} ms: try again`, given, ms);
  }

  /**
   * Waits after a command. Throws request.not_caught_up although the change is made, unless `answersUnapplied` is set.
   * Reads that carry the position then wait for it.
   */
  private async answer({ position, reply }: Changed<unknown>, response: Response): Promise<unknown> {
    if (position !== undefined) {
      response.setHeader(POSITION_HEADER, position);
      const ms = this.settings.appliedTimeoutMs;
      if (!(await this.readModels.waitFor(position, ms)) && !this.settings.answersUnapplied) {
        throw notCaughtUp(
          `the change is made at log position ${position}, but reads do not show it yet after ${ms} ms: ` +
            `read again with the header ${POSITION_HEADER}: ${position}`,
          position,
          ms,
        );
      }
    }
    return reply;
  }
}

const notCaughtUp = (message: string, position: Position, ms: number): DomainError =>
  new DomainError('request.not_caught_up', message, { position, waited_ms: ms });
