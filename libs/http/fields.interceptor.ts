import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { type Request } from 'express';
import { map, type Observable } from 'rxjs';

/**
 * Applies `include` and `exclude` of every route to the object in `data`, or to each element of it
 * (docs/reference/rest-api.md#include-exclude).
 */
@Injectable()
export class FieldsInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    const include = namesIn(request, 'include');
    const exclude = namesIn(request, 'exclude');
    if (include.size === 0 && exclude.size === 0) return next.handle();
    return next.handle().pipe(map((reply: unknown) => selectFields(reply, include, exclude)));
  }
}

export const selectFields = (reply: unknown, include: ReadonlySet<string>, exclude: ReadonlySet<string>): unknown => {
  if (!isObject(reply) || !('data' in reply)) return reply;
  const pick = (item: unknown): unknown =>
    isObject(item)
      ? Object.fromEntries(
          Object.entries(item).filter(([name]) => (include.size === 0 || include.has(name)) && !exclude.has(name)),
        )
      : item;
  const { data } = reply;
  return { ...reply, data: Array.isArray(data) ? data.map(pick) : pick(data) };
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const namesIn = (request: Request, parameter: 'include' | 'exclude'): ReadonlySet<string> => {
  const body: unknown = request.body;
  const given = [request.query[parameter], isObject(body) ? body[parameter] : undefined].flat();
  const names = given.flatMap((text) => (typeof text === 'string' ? text.split(',') : []));
  return new Set(names.map((name) => name.trim()).filter((name) => name !== ''));
};
