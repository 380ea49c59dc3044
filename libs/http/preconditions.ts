import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { map, type Observable } from 'rxjs';
import { DomainError } from '#libs/kernel/domain-error.js';

/** `"3"`, or `W/"3"` as proxies that compress make of it. */
const TAG = /^(?:W\/)?"(\d{1,15})"$/;
const OTHER_TAG = /^(?:W\/)?"[\x21\x23-\x7e]*"$/;
const MAX_TAGS = 20;

/**
 * Revisions that a request accepts by `If-Match`; undefined when it accepts any. Tags of other servers match nothing.
 * Throws request.invalid_parameter for a malformed header.
 */
export const acceptedRevisions = (request: Request): readonly number[] | undefined => {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*') return undefined;
  return tagsOf('If-Match', header)
    .flatMap((tag) => TAG.exec(tag)?.[1] ?? [])
    .map(Number);
};

const tagsOf = (name: string, header: string): readonly string[] => {
  const tags = header.split(',').map((tag) => tag.trim());
  if (tags.length <= MAX_TAGS && tags.every((tag) => OTHER_TAG.test(tag))) return tags;
  const actual = header.slice(0, 40);
  throw new DomainError(
    'request.invalid_parameter',
    `header ${name} must be *, or up to ${MAX_TAGS} values of the header ETag such as "3"; got ${actual}`,
    { field: name, actual },
  );
};

/**
 * Adds to every reply about one resource its `ETag`, which is its revision, and answers a read by id with 304 when the
 * client has that revision (docs/reference/rest-api.md#etag). A slug or a key may find another resource next time,
 * whose revision is not comparable.
 */
@Injectable()
export class EtagInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    return next.handle().pipe(map((reply: unknown) => tagged(reply, http.getRequest(), http.getResponse())));
  }
}

const tagged = (reply: unknown, request: Request, response: Response): unknown => {
  const resource = resourceIn(reply);
  if (resource === undefined) return reply;
  const tag = `"${resource.revision}"`;
  response.setHeader('ETag', tag);
  const known = request.headers['if-none-match'];
  if (known === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) return reply;
  const tags = known.trim() === '*' ? [tag] : tagsOf('If-None-Match', known);
  if (!Object.values(request.params).includes(resource.id)) {
    // Express answers 304 on its own while the header is there.
    delete request.headers['if-none-match'];
    return reply;
  }
  if (!tags.some((each) => each.replace(/^W\//, '') === tag)) return reply;
  response.status(304);
  return undefined;
};

const resourceIn = (reply: unknown): { readonly id: string; readonly revision: number } | undefined => {
  if (typeof reply !== 'object' || reply === null || !('data' in reply)) return undefined;
  const { data } = reply;
  if (typeof data !== 'object' || data === null || !('revision' in data) || !('id' in data)) return undefined;
  const { id, revision } = data;
  return typeof revision === 'number' && typeof id === 'string' ? { id, revision } : undefined;
};
