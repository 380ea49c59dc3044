import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { type Request } from 'express';
import { catchError, map, throwError, type Observable } from 'rxjs';
import { type Warning } from '#libs/kernel/warning.js';
import { declaredParameters } from './declared-parameters.js';
import { OPERATION, type OperationInfo } from './operation.js';
import { explained, misspellings, refusalOf, warningOf } from './misspelt-parameters.js';

/**
 * Compares the names in query and body with the parameters that the route declares
 * (docs/reference/rest-api.md#misspelt-parameters). A request that works is answered with a warning. A deletion is
 * refused, also for a name near nothing in its query, because it cannot be undone. So is a misspelt limit of what is made. An error about something missing names the misspelling.
 */
@Injectable()
export class MisspeltParametersInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const parameters = declaredParameters(context.getHandler());
    if (!parameters) return next.handle();
    const declared = [...parameters.keys()];
    const request = context.switchToHttp().getRequest<Request>();
    const found = misspellings(namesIn(request), declared);
    if (request.method === 'DELETE') {
      const wrong = Object.keys(request.query).find((name) => !declared.includes(name)) ?? found[0]?.given;
      if (wrong !== undefined) return throwError(() => refusalOf(wrong, declared, 'Nothing was deleted.'));
    }
    const { limits = [] } = Reflect.getMetadata(OPERATION, context.getHandler()) as OperationInfo;
    const limit = found.find(({ meant }) => limits.includes(meant));
    if (limit) return throwError(() => refusalOf(limit.given, declared, 'Nothing was made.'));
    if (found.length === 0) return next.handle();
    return next.handle().pipe(
      map((reply: unknown) =>
        withWarnings(
          reply,
          found.map((one) => warningOf(one, declared)),
        ),
      ),
      catchError((error: unknown) => throwError(() => explained(error, found, declared))),
    );
  }
}

function* namesIn({ query, body }: { readonly query: unknown; readonly body?: unknown }): Generator<string> {
  for (const place of [query, body]) {
    if (typeof place === 'object' && place !== null && !Array.isArray(place)) yield* Object.keys(place);
  }
}

/** Adds warnings to a reply with `data`, before those that it has. */
const withWarnings = (reply: unknown, warnings: readonly Warning[]): unknown => {
  if (typeof reply !== 'object' || reply === null || !('data' in reply)) return reply;
  const before: readonly unknown[] = 'warnings' in reply && Array.isArray(reply.warnings) ? reply.warnings : [];
  return { ...reply, warnings: [...warnings, ...before] };
};
