import { hash } from 'node:crypto';
import { type OpenAPIObject } from '@nestjs/swagger';
import { htmlText as escaped } from './html-text.js';
import { type JsonSchema } from './json-schema.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Reply = NonNullable<Operation['responses'][string]>;

const METHODS = ['get', 'post', 'put', 'delete'] as const;

const STYLE = `
:root{color-scheme:light dark;--line:#8884}
body{font:15px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem}
h2{margin-top:2.5rem}nav a{margin-right:1rem;white-space:nowrap}
details{border:1px solid var(--line);border-radius:6px;margin:.5rem 0;padding:.4rem .8rem}
details details{border-style:dotted}summary{cursor:pointer}
code{font:13px/1.5 ui-monospace,monospace}b{font:600 12px ui-monospace,monospace;margin-right:.5rem}
table{border-collapse:collapse;width:100%}td,th{border-top:1px solid var(--line);padding:.2rem .6rem .2rem 0;text-align:left;vertical-align:top}
`;

/** Allows the page its own style and nothing else: no script, no frame, no other address. */
export const DOCS_POLICY = `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** A page in plain HTML about every route of the document, without script, for `GET /v1/docs`. */
export const docsPage = (document: OpenAPIObject): string => {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation ? [{ path, method, operation, tag: operation.tags?.[0] ?? '' }] : [];
    }),
  );
  const tags = [...new Set(operations.map(({ tag }) => tag))].sort();
  const parts = tags.map(
    (tag) =>
      `<h2 id="${escaped(tag)}">${escaped(tag)}</h2>` +
      operations
        .filter((each) => each.tag === tag)
        .map(({ path, method, operation }) => operationHtml(path, method, operation, document))
        .join(''),
  );
  const links = tags.map((tag) => `<a href="#${escaped(tag)}">${escaped(tag)}</a>`).join('');
  return (
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<title>Sluice API</title><style>${STYLE}</style><h1>Sluice API</h1>` +
    `<p>${marked(document.info.description ?? '')} <a href="openapi.json">OpenAPI document</a></p>` +
    `<nav>${links}</nav>${parts.join('')}${schemasHtml(document)}</html>`
  );
};

const operationHtml = (path: string, method: string, operation: Operation, document: OpenAPIObject): string => {
  const parameters = (operation.parameters ?? []).filter((parameter) => 'name' in parameter);
  const body = operation.requestBody;
  const schema = body && 'content' in body ? (body.content['application/json']?.schema as JsonSchema) : undefined;
  return (
    `<details id="${escaped(operation.operationId ?? '')}"><summary><b>${method.toUpperCase()}</b><code>${escaped(path)}</code> ` +
    `${marked(operation.summary ?? '')}</summary>` +
    table(
      'Parameter',
      parameters.map(({ name, in: place, required, schema: type, description }) => [
        `<code>${escaped(name)}</code> (${place})${required ? ', required' : ''}`,
        typeOf(type as JsonSchema),
        marked(description ?? ''),
      ]),
    ) +
    (schema ? table('Body', fieldRows(schema)) : '') +
    table(
      'Reply',
      Object.entries(operation.responses).map(([status, reply]) => replyRow(status, reply, document)),
    ) +
    '</details>'
  );
};

const replyRow = (status: string, reply: Reply | undefined, document: OpenAPIObject): readonly string[] => {
  const found = reply && '$ref' in reply ? document.components?.responses?.[lastOf(reply.$ref)] : reply;
  if (!found || '$ref' in found) return [status, '', ''];
  const content = Object.entries(found.content ?? {})[0];
  const type = content ? typeOf(content[1].schema) : '';
  return [status, type, marked(found.description)];
};

const schemasHtml = (document: OpenAPIObject): string =>
  '<h2 id="schemas">Schemas</h2>' +
  Object.entries(document.components?.schemas ?? {})
    .map(
      ([name, schema]) =>
        `<details id="schema-${escaped(name)}"><summary><code>${escaped(name)}</code></summary>` +
        `${table('Field', fieldRows(schema as JsonSchema))}</details>`,
    )
    .join('');

const fieldRows = ({ properties = {}, required = [] }: JsonSchema, prefix = ''): readonly (readonly string[])[] =>
  Object.entries(properties).flatMap(([name, schema]) => [
    [
      `<code>${escaped(prefix + name)}</code>${required.includes(name) ? '' : ', optional'}`,
      typeOf(schema),
      marked(schema.description ?? ''),
    ],
    ...fieldRows(schema, `${prefix}${name}.`),
    ...(schema.items ? fieldRows(schema.items, `${prefix}${name}[].`) : []),
  ]);

const typeOf = (schema: JsonSchema | undefined): string => {
  if (!schema) return '';
  const { $ref, anyOf, items, type, enum: values, properties } = schema;
  if ($ref !== undefined) return `<a href="#schema-${escaped(lastOf($ref))}">${escaped(lastOf($ref))}</a>`;
  if (anyOf) return anyOf.map(typeOf).join(' or ');
  if (items) return `array of ${typeOf(items) || 'any'}`;
  if (values) return values.map((value) => `<code>${escaped(JSON.stringify(value))}</code>`).join(' or ');
  if (properties) {
    const [data] = ['data'].flatMap((name) => properties[name] ?? []);
    return data ? `object with data: ${typeOf(data)}` : 'object';
  }
  return escaped([type ?? 'any'].flat().join(' or ')) + limitsOf(schema);
};

const limitsOf = ({ minimum, maximum, minLength, maxLength }: JsonSchema): string => {
  const range = [
    ...(minimum === undefined ? [] : [`from ${minimum}`]),
    ...(maximum === undefined ? [] : [`to ${maximum}`]),
    ...(minLength === undefined ? [] : [`at least ${minLength} characters`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
  ];
  return range.length === 0 ? '' : ` ${range.join(' ')}`;
};

const table = (title: string, rows: readonly (readonly string[])[]): string =>
  rows.length === 0
    ? ''
    : `<table><tr><th>${title}</th><th>Type</th><th>Meaning</th></tr>` +
      `${rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')}</table>`;

const lastOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** Text with `code` in backticks. */
const marked = (text: string): string => escaped(text).replace(/`([^`]*)`/g, '<code>$1</code>');
