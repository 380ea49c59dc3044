import { type INestApplication } from '@nestjs/common';
import { type RequestHandler } from 'express';
import { type Release } from './openapi.js';
import { type FixedAnswer, fixedAnswer, sendFixed } from './fixed-answer.js';

/**
 * Serves `GET /v1/openapi.json`, `GET /v1/docs`, which shows it, and `GET /v1`, which names both, without an API key.
 * Builds them at the first request and keeps them.
 */
export const openApiRoute = (app: INestApplication, release: Release | undefined): RequestHandler => {
  let made: Promise<Documents> | undefined;
  return (request, response, next) => {
    const path = request.path;
    if (!isDocument(path) || (request.method !== 'GET' && request.method !== 'HEAD')) {
      next();
      return;
    }
    (made ??= documentsOf(app, release)).then((documents) => sendFixed(documents[path], request, response)).catch(next);
  };
};

/** Where a visitor of the API's address finds more. */
const ENTRY = {
  name: 'Sluice API',
  docs: '/v1/docs',
  openapi: '/v1/openapi.json',
  authorization: 'Bearer <API key>',
};

type Documents = Readonly<Record<(typeof PATHS)[number], FixedAnswer>>;

const PATHS = ['/v1', '/v1/openapi.json', '/v1/docs'] as const;

const isDocument = (path: string): path is keyof Documents => (PATHS as readonly string[]).includes(path);

const documentsOf = async (app: INestApplication, release: Release | undefined): Promise<Documents> => {
  const [{ openApiText, buildOpenApi }, { docsPage, DOCS_POLICY }] = await Promise.all([
    import('./openapi.js'),
    import('./docs-page.js'),
  ]);
  const page = docsPage(await buildOpenApi(app, release));
  const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
  const [entry, json, html] = await Promise.all([
    fixedAnswer(`${JSON.stringify({ data: ENTRY })}\n`, JSON_TYPE),
    fixedAnswer(await openApiText(app, release), JSON_TYPE),
    fixedAnswer(page, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': DOCS_POLICY }),
  ]);
  return { '/v1': entry, '/v1/openapi.json': json, '/v1/docs': html };
};
