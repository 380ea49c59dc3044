import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { expectUpToDate } from '#libs/http/testing/expect-up-to-date.js';
import { withoutMeaning } from '#test/harness/openapi-meanings.js';
import { type ApiDocument } from '#test/harness/api-contract.js';
import { useInstance } from '#test/harness/instance.js';
import { ROOT } from '#test/harness/paths.js';

const { api } = useInstance();

describe('GET /v1/openapi.json', () => {
  // docs/reference/rest-api.md#openapi
  it('equals docs/reference/openapi.json', async () => {
    const reply = await api.call('GET', '/v1/openapi.json', { key: null });
    expect(reply.status).toBe(200);
    const file = join(ROOT, 'docs/reference/openapi.json');
    expectUpToDate(file, reply.text, 'the server, and curl its /v1/openapi.json into that file');
  });

  // docs/reference/rest-api.md#openapi
  it('gives every parameter and every field a meaning', async () => {
    const document = await api.expect<ApiDocument>(200, 'GET', '/v1/openapi.json');
    expect(withoutMeaning(document)).toEqual([]);
  });

  it('lists the refusals of each route that needs a key', async () => {
    const { paths } = await api.expect<ApiDocument>(200, 'GET', '/v1/openapi.json');
    const statuses = (path: string, method: string) => Object.keys(paths[path]?.[method]?.responses ?? {});
    expect(statuses('/v1/users/me', 'get')).toEqual(['200', '400', '401', '403', '429', '503', 'default']);
    expect(statuses('/v1/sources/{idOrSlug}', 'get')).toEqual([
      '200',
      '304',
      '400',
      '401',
      '403',
      '404',
      '429',
      '503',
      'default',
    ]);
    expect(statuses('/v1/sources/{idOrSlug}', 'put')).toEqual([
      '200',
      '400',
      '401',
      '403',
      '404',
      '409',
      '412',
      '413',
      '415',
      '422',
      '429',
      '503',
      'default',
    ]);
  });

  it('describes every route under a unique name', async () => {
    const { paths } = await api.expect<ApiDocument>(200, 'GET', '/v1/openapi.json');
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ route: `${method} ${path}`, ...operation })),
    );
    expect(operations.filter(({ summary }) => summary === undefined).map(({ route }) => route)).toEqual([]);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    for (const route of ['post /v1/components', 'post /v1/sources', 'put /v1/sources/{idOrSlug}', 'get /v1/users/me']) {
      expect(operations.map((operation) => operation.route)).toContain(route);
    }
  });
});

// docs/reference/rest-api.md#api-docs
describe('GET /v1/docs', () => {
  // docs/reference/rest-api.md#api-docs
  it('shows every route and schema in plain HTML, without a key and without script', async () => {
    const { paths, components } = await api.expect<ApiDocument>(200, 'GET', '/v1/openapi.json');
    const reply = await api.call('GET', '/v1/docs', { key: null });
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = String(reply.headers['content-security-policy']);
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(reply.text).not.toMatch(/<script|<link|src=|javascript:/i);
    for (const path of Object.keys(paths)) expect(reply.text).toContain(`<code>${path}</code>`);
    const ids = new Set([...reply.text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    for (const name of Object.keys(components.schemas)) expect(ids).toContain(`schema-${name}`);
    const links = [...reply.text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(links.filter((id) => !ids.has(id))).toEqual([]);
  });
});
