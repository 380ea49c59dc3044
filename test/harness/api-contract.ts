import { type ApiClient, type CallOptions, type Reply } from './api-client.js';
import { differences, type CheckedSchema, type NamedSchemas } from './schema-check.js';

interface DocumentedReply {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema: CheckedSchema }>>;
}

interface DocumentedOperation {
  readonly summary?: string;
  readonly operationId: string;
  readonly responses: Readonly<Record<string, DocumentedReply>>;
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: {
    readonly schemas: NamedSchemas;
    readonly responses: Readonly<Record<string, DocumentedReply>>;
  };
}

export interface ContractCall extends Omit<CallOptions, 'key'> {
  /** Values of the parameters in the path. */
  readonly path?: Readonly<Record<string, string>>;
}

/** Routes of a document as `GET /v1/sources/{idOrSlug}`. */
export const routesOf = ({ paths }: ApiDocument): string[] =>
  Object.entries(paths).flatMap(([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`));

/** Calls routes of a running server and compares each reply with the server's own OpenAPI document. */
export class ApiContract {
  /** Routes that have answered with success, or with an error when the document has no success for them. */
  readonly called = new Set<string>();

  private constructor(
    private readonly api: ApiClient,
    readonly document: ApiDocument,
  ) {}

  static async of(api: ApiClient): Promise<ApiContract> {
    return new ApiContract(api, await api.expect<ApiDocument>(200, 'GET', '/v1/openapi.json'));
  }

  /** Throws when the status is another one, is not documented, or the body differs from the document. */
  async expect<T>(status: number, route: string, { path = {}, ...options }: ContractCall = {}): Promise<T> {
    const [method = '', template = ''] = route.split(' ');
    const operation = this.document.paths[template]?.[method.toLowerCase()];
    if (!operation) throw new Error(`${route} is not in the document`);
    const url = template.replace(/\{(\w+)\}/g, (_, name: string) => path[name] ?? `no-${name}`);
    const reply = await this.api.call<T>(method, url, options);
    if (reply.status !== status) throw new Error(`${route} answered ${reply.status}: ${reply.text.slice(0, 1_000)}`);
    const found = this.differencesOf(operation, reply);
    if (found.length > 0) throw new Error(`${route} ${status} differs from the document: ${found.join('; ')}`);
    const hasSuccess = Object.keys(operation.responses).some((code) => code.startsWith('2'));
    if (status < 400 || (!hasSuccess && String(status) in operation.responses)) this.called.add(route);
    return reply.body;
  }

  private differencesOf({ responses }: DocumentedOperation, { status, headers, text, body }: Reply): string[] {
    const found = responses[status] ?? (status >= 400 ? responses['default'] : undefined);
    if (!found) return [`status ${status} is not documented`];
    const documented = this.document.components.responses[found.$ref?.split('/').at(-1) ?? ''] ?? found;
    const [entry] = Object.entries(documented.content ?? {});
    if (!entry) return text === '' ? [] : ['there is a body'];
    const [type, { schema }] = entry;
    const sent = String(headers['content-type']).split(';')[0] ?? '';
    if (sent !== type) return [`the content type is ${sent}, not ${type}`];
    return differences(schema, type === 'application/json' ? body : text, this.document.components.schemas);
  }
}
