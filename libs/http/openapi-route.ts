import { type INestApplication } from '@nestjs/common';
import { type RequestHandler } from 'express';
import { type FixedAnswer, fixedAnswer, sendFixed } from './fixed-answer.js';

/**
 * Serves `GET /v1/openapi.json`, and `GET /v1/docs`, which shows it, without an API key. Builds them at the first request
 * and keeps them.
 */
export const openApiRoute = (app: INestApplication): RequestHandler => {
  let made: Promise<Documents> | undefined;
  return (request, response, next) => {
    const path = request.path;
    if (!isDocument(path) || (request.method !== 'GET' && request.method !== 'HEAD')) {
      next();
      return;
    }
    (made ??= documentsOf(app)).then((documents) => sendFixed(documents[path], request, response)).catch(next);
  };
};

type Documents = Readonly<Record<(typeof PATHS)[number], FixedAnswer>>;

const PATHS = ['/v1/openapi.json', '/v1/docs'] as const;

const isDocument = (path: string): path is keyof Documents => (PATHS as readonly string[]).includes(path);

const documentsOf = async (app: INestApplication): Promise<Documents> => {
  const [{ openApiText, buildOpenApi }, { docsPage, DOCS_POLICY }] = await Promise.all([
    import('./openapi.js'),
    import('./docs-page.js'),
  ]);
  const page = docsPage(await buildOpenApi(app));
  const [json, html] = await Promise.all([
    fixedAnswer(await openApiText(app), { 'content-type': 'application/json; charset=utf-8' }),
    fixedAnswer(page, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': DOCS_POLICY }),
  ]);
  return { '/v1/openapi.json': json, '/v1/docs': html };
};
