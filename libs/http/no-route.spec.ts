import { describe, expect, it } from '@jest/globals';
import { type HttpAdapterHost } from '@nestjs/core';
import express from 'express';
import { hintFor } from './no-route.js';

const app = express();
for (const path of ['/v1/users/me/sources', '/v1/users/me/webhooks', '/v1/sources/:id', '/v1/accounts'])
  app.get(path, () => undefined);
app.post('/v1/sources', () => undefined);
const host = { httpAdapter: { getInstance: () => app } } as unknown as HttpAdapterHost;

// docs/reference/rest-api.md#unknown-route
describe('the hint for a path that no route serves', () => {
  it.each([
    ['/v1/sources', ': the list is GET /v1/users/me/sources'],
    ['/v1/source', ': the list is GET /v1/users/me/sources'],
    ['/v1/webhook', ': the list is GET /v1/users/me/webhooks'],
    ['/users/me/sources', '; did you mean GET /v1/users/me/sources?'],
    ['/v1/users/me/accounts', '; did you mean GET /v1/accounts?'],
    ['/v1/source/dc_1', '; did you mean GET /v1/sources/dc_1?'],
    ['/docs', '; did you mean GET /v1/docs, or GET /v1/openapi.json?'],
    ['/openapi.json', '; did you mean GET /v1/docs, or GET /v1/openapi.json?'],
    ['/v1/swagger-ui/index.html', '; did you mean GET /v1/docs, or GET /v1/openapi.json?'],
    ['/v1/nothing', ''],
  ])('GET %s', (path, hint) => {
    expect(hintFor(host, 'GET', path)).toBe(hint);
  });
});
