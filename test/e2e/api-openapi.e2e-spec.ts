import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { expectUpToDate } from '#libs/http/testing/expect-up-to-date.js';
import { type ApiDocument } from '#test/harness/api-contract.js';
import { useInstance } from '#test/harness/instance.js';
import { ROOT } from '#test/harness/paths.js';

const { api } = useInstance();

describe('GET /v1/openapi.json', () => {
  it('equals docs/reference/openapi.json', async () => {
    const reply = await api.call('GET', '/v1/openapi.json', { key: null });
    expect(reply.status).toBe(200);
    const file = join(ROOT, 'docs/reference/openapi.json');
    expectUpToDate(file, reply.text, 'the server, and curl its /v1/openapi.json into that file');
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
