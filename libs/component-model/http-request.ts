/** Value of a prop of type http_request, as a form writes it (docs/reference/component-model.md#http-request-value). */

export interface RequestPair {
  readonly name: string;
  readonly value?: string | number | boolean | null;
}

export interface ConfiguredRequest {
  readonly method?: string | null;
  readonly url: string;
  readonly params?: readonly RequestPair[] | null;
  readonly headers?: readonly RequestPair[] | null;
  readonly auth?: {
    readonly type?: 'none' | 'basic' | 'bearer' | null;
    readonly username?: string | null;
    readonly password?: string | null;
    readonly token?: string | null;
  } | null;
  readonly body?: {
    readonly type?: 'none' | 'fields' | 'raw' | null;
    readonly mode?: 'none' | 'fields' | 'raw' | null;
    readonly contentType?: string | null;
    readonly fields?: readonly RequestPair[] | null;
    readonly raw?: string | null;
  } | null;
}

const METHODS: readonly unknown[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

export const isHttpMethod = (method: unknown): method is string =>
  typeof method === 'string' && METHODS.includes(method.toUpperCase());
