import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { type Request } from 'express';
import { parameters, type Parameters } from './parameters.js';

/**
 * A YAML body, unread: no text of a user is parsed as YAML in this process, because the parser's time, memory and
 * recursion depend on the text (docs/reference/workflows.md#yaml-read). It has no keys, so nothing takes it for parameters.
 */
export class YamlText {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }

  /** Makes the text part of the fingerprint of a request with an Idempotency-Key. */
  toJSON(): string {
    return this.#text;
  }
}

const MEDIA_TYPES = ['application/yaml', 'text/yaml', 'application/x-yaml'];
/** Routes whose body may be YAML. A route below a workflow takes none. */
const PATHS = /^\/v1\/workflows(?:\/[^/]+)?$/;

export const mayBeYaml = (path: string, mediaType: string): boolean =>
  MEDIA_TYPES.includes(mediaType) && PATHS.test(path);

/** A body that is one document. */
export type GivenDocument = { readonly yaml: string } | { readonly json: Parameters };

/** Injects the body of a route that takes a document. */
export const DocumentBody = createParamDecorator((_: unknown, context: ExecutionContext): GivenDocument => {
  const body: unknown = context.switchToHttp().getRequest<Request>().body;
  return body instanceof YamlText ? { yaml: body.text } : { json: parameters({ query: {}, body }, 'body_wins') };
});
