import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { type Request } from 'express';
import { type Observable } from 'rxjs';
import { declaredParameters } from './declared-parameters.js';
import { CONDITIONAL_HEADERS } from './described-routes.js';
import { checkLimits, MAX_HEADER_TEXT, MAX_PATH_TEXT, tooLong } from './parameter-limits.js';

/**
 * Refuses a parameter above the limit in the description of the route, before the route reads it
 * (docs/reference/limits.md#parameter-texts). The description and this check read the same limits.
 */
@Injectable()
export class ParameterLimitsInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    for (const [name, text] of Object.entries(request.params))
      if (text.length > MAX_PATH_TEXT) throw tooLong(name, MAX_PATH_TEXT, text.length);
    for (const name of CONDITIONAL_HEADERS) {
      const text = request.headers[name.toLowerCase()] ?? '';
      if (text.length > MAX_HEADER_TEXT) throw tooLong(name, MAX_HEADER_TEXT, text.length);
    }
    const declared = declaredParameters(context.getHandler());
    for (const given of [request.query, request.body as unknown]) {
      if (typeof given !== 'object' || given === null) continue;
      for (const [name, value] of Object.entries(given)) {
        const schema = declared?.get(name);
        if (schema) checkLimits(name, schema, value);
      }
    }
    return next.handle();
  }
}
