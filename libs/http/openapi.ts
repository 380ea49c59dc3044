import { type INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { type OpenAPIObject } from '@nestjs/swagger';
import { OPEN_TO_ALL } from './access.js';
import { type DescribedRoute, hasEtag, headersOf, REFUSALS, refusalsOf } from './described-routes.js';
import { FIELDS, LISTED, WORKSPACE } from './common-parameters.js';
import { objectSchema, textSchema } from './declared-parameters.js';
import { schemaOf, type JsonSchema } from './json-schema.js';
import { limited, MAX_PATH_TEXT } from './parameter-limits.js';
import { operationIdOf } from './operation-ids.js';
import { pathParameterText } from './path-parameters.js';
import { OPERATION, type OperationInfo } from './operation.js';
import { ErrorReply, WarningReply } from './replies.js';
import { allNamed, type AnySchema } from './reply-schema.js';

type PathItem = OpenAPIObject['paths'][string];
type OperationObject = NonNullable<PathItem['get']>;
type Parameter = NonNullable<OperationObject['parameters']>[number];
type Replies = OperationObject['responses'];

/** What the document says about the server that answers with it. */
export interface Release {
  readonly version: string;
  /** Absent: the address of the document. */
  readonly publicUrl?: string | undefined;
}

const UNRELEASED: Release = { version: '0.0.0' };

const METHODS = ['get', 'put', 'post', 'delete'] as const;
/**
 * Builds the OpenAPI document. The library finds routes and statuses; `@Operation`, DTOs and reply schemas describe them.
 * The library is loaded on demand. Its decorators would add hundreds of milliseconds to each start, and no compiler
 * would compare them with what a route answers.
 */
export const buildOpenApi = async (app: INestApplication, release: Release = UNRELEASED): Promise<OpenAPIObject> => {
  const { DocumentBuilder, SwaggerModule } = await import('@nestjs/swagger');
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.1')
    .setTitle('Sluice')
    .setDescription(
      'Event sources, subscriptions, webhooks and their events. Times are epoch seconds unless a field says otherwise.',
    )
    .setVersion(release.version)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer(release.publicUrl ?? '/', 'This server')
    .addSecurity('apiKey', { type: 'http', scheme: 'bearer', description: 'An API key' })
    .addSecurityRequirements('apiKey')
    .build();
  const handlers = handlersOf(app);
  const document = SwaggerModule.createDocument(app, config, {
    operationIdFactory: (controller, method) => `${controller}.${method}`,
    autoTagControllers: false,
  });
  const paths = Object.entries(document.paths)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, item]) => [path, describedItem(path, item, handlers)] as const);
  const schemas = namedSchemas([...handlers.values()]);
  return {
    ...document,
    paths: Object.fromEntries(paths),
    components: { ...document.components, schemas, responses: refusalReplies() },
  };
};

/** Schemas that the replies of all routes refer to, in alphabetical order. */
const namedSchemas = (handlers: readonly Handler[]): Record<string, JsonSchema> => {
  const replies = handlers.flatMap(({ info }) => [
    ...(info?.reply ? [info.reply] : []),
    ...Object.values(info?.replies ?? {}).map(({ schema }) => schema),
  ]);
  return Object.fromEntries([...allNamed([ErrorReply, WarningReply, ...replies])].sort(([a], [b]) => (a < b ? -1 : 1)));
};

/** Text of docs/reference/openapi.json. */
export const openApiText = async (app: INestApplication, release?: Release): Promise<string> =>
  `${JSON.stringify(await buildOpenApi(app, release), null, 2)}\n`;

interface Handler {
  readonly info: OperationInfo | undefined;
  readonly open: boolean;
}

/** Handlers by `{controller}.{method}`. */
const handlersOf = (app: INestApplication): ReadonlyMap<string, Handler> => {
  const handlers = new Map<string, Handler>();
  for (const module of app.get(ModulesContainer).values()) {
    for (const { metatype } of module.controllers.values()) {
      if (typeof metatype !== 'function') continue;
      const prototype: unknown = metatype.prototype;
      if (typeof prototype !== 'object' || prototype === null) continue;
      for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
        if (!isFunction(value) || name === 'constructor') continue;
        const told = (key: string): unknown => Reflect.getMetadata(key, value) ?? Reflect.getMetadata(key, metatype);
        const info = Reflect.getMetadata(OPERATION, value) as OperationInfo | undefined;
        handlers.set(`${metatype.name}.${name}`, { info, open: told(OPEN_TO_ALL) === true });
      }
    }
  }
  return handlers;
};

const isFunction = (value: unknown): value is () => unknown => typeof value === 'function';

const describedItem = (path: string, item: PathItem, handlers: ReadonlyMap<string, Handler>): PathItem => {
  const described: PathItem = {};
  for (const method of METHODS) {
    const operation = item[method];
    // A route with several paths is numbered: `Controller.method[0]`.
    const handler = handlers.get(operation?.operationId?.replace(/\[\d+\]$/, '') ?? '');
    if (operation && handler) described[method] = describedOperation(path, method, operation, handler);
  }
  return described;
};

/** Whether a route answers with a list. */
const isList = (info: OperationInfo | undefined): boolean =>
  info?.paged === true || info?.reply?.json.properties?.['data']?.type === 'array';

const describedOperation = (
  path: string,
  method: (typeof METHODS)[number],
  operation: OperationObject,
  { info, open }: Handler,
): OperationObject => {
  const texts = {
    ...info?.also,
    ...(info?.paged ? LISTED : {}),
    ...(open ? {} : WORKSPACE),
    ...(info?.reply && !open ? FIELDS : {}),
  };
  const query = info?.query ? schemaOf(info.query) : undefined;
  const hasBody = info?.body !== undefined || info?.document !== undefined;
  const route = { method, path, hasBody, refusals: info?.refusals ?? [] };
  return {
    operationId: operationIdOf(method, path, isList(info)),
    tags: [/^\/v1\/(\w+)/.exec(path)?.[1] ?? 'operator'],
    ...(info ? { summary: info.summary } : {}),
    ...(open ? { security: [] } : {}),
    parameters: [
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) =>
        parameter('path', name, { type: 'string', maxLength: MAX_PATH_TEXT }, true, pathParameterText(path, name)),
      ),
      ...Object.entries(query?.properties ?? {}).map(([name, schema]) =>
        parameter('query', name, withoutText(schema), query?.required?.includes(name) ?? false, schema.description),
      ),
      ...Object.entries(texts).map(([name, description]) =>
        parameter('query', name, textSchema(name), false, description),
      ),
      ...(open ? [] : headersOf(route)).map(({ name, schema, description }) =>
        parameter('header', name, schema, false, description),
      ),
    ],
    ...(info?.document === undefined ? {} : { requestBody: { content: documentContent(info.document) } }),
    ...(info?.body
      ? { requestBody: { content: { 'application/json': { schema: bodySchema(info.body, info.objects) } } } }
      : {}),
    responses: repliesOf(operation, info, open ? undefined : route),
  };
};

/** @param route undefined for one that is open to all. */
const repliesOf = (
  operation: OperationObject,
  info: OperationInfo | undefined,
  route: DescribedRoute | undefined,
): Replies => {
  const { reply, replies = {}, produces } = info ?? {};
  const status = Object.keys(operation.responses).find((code) => code.startsWith('2')) ?? '200';
  const success = reply
    ? { description: 'Done', ...etagOf(route), ...contentOf(route ? mayWarn(reply) : reply, produces) }
    : { description: status === '204' ? 'Done; no body' : 'Done' };
  const more = Object.entries(replies).map(
    ([code, { description, schema }]) =>
      [
        code,
        { description, ...(Number(code) < 300 ? contentOf(mayWarn(schema), produces) : contentOf(schema)) },
      ] as const,
  );
  return {
    ...(reply || more.length === 0 ? { [status]: success } : {}),
    ...(route && reply && hasEtag(route) && route.method === 'get'
      ? { 304: { description: 'Not modified; no body' } }
      : {}),
    ...refusalRefs(route ? refusalsOf(route).filter((status) => !(status in replies)) : []),
    ...Object.fromEntries(more),
  };
};

const refusalRefs = (statuses: readonly string[]): Replies =>
  Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${REFUSALS[status]?.[0] ?? ''}` }]),
  );

const refusalReplies = () =>
  Object.fromEntries(
    Object.values(REFUSALS).map(([name, description]) => [name, { description, ...contentOf(ErrorReply) }]),
  );

const etagOf = (route: DescribedRoute | undefined) =>
  route && hasEtag(route) ? { headers: { ETag: { description: 'The revision', schema: { type: 'string' } } } } : {};

const WARNINGS = 'What was accepted but is probably not meant; absent when there is nothing';

/** Any reply with `data` may have warnings about misspelt parameters (docs/reference/rest-api.md#misspelt-parameters). */
const mayWarn = ({ json, named }: AnySchema): AnySchema => ({ json: withWarnings(json), named });

const withWarnings = (json: JsonSchema): JsonSchema => {
  if (json.anyOf) return { ...json, anyOf: json.anyOf.map(withWarnings) };
  const { properties } = json;
  if (properties?.['data'] === undefined || properties['warnings'] !== undefined) return json;
  return {
    ...json,
    properties: { ...properties, warnings: { type: 'array', items: WarningReply.json, description: WARNINGS } },
  };
};

const contentOf = ({ json }: AnySchema, type = 'application/json') => ({ content: { [type]: { schema: json } } });

const bodySchema = (dto: NonNullable<OperationInfo['body']>, objects: OperationInfo['objects'] = {}): JsonSchema => {
  const schema = schemaOf(dto);
  const more = Object.entries(objects).map(([name, description]) => [name, objectSchema(name, description)] as const);
  return { ...schema, properties: { ...schema.properties, ...Object.fromEntries(more) } };
};

const documentContent = (description: string) => ({
  'application/json': { schema: limited('document', { type: 'object', description }) },
  'application/yaml': { schema: limited('document', { type: 'string', description }) },
});

const parameter = (
  place: 'path' | 'query' | 'header',
  name: string,
  schema: JsonSchema,
  required: boolean,
  description?: string,
): Parameter => ({ name, in: place, required, schema, ...(description === undefined ? {} : { description }) });

const withoutText = ({ description: _, ...schema }: JsonSchema): JsonSchema => schema;
