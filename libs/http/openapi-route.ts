import { type INestApplication } from '@nestjs/common';
import { type RequestHandler, type Response } from 'express';

/**
 * Serves `GET /v1/openapi.json`, and `GET /v1/docs`, which shows it, without an API key. Builds them at the first request
 * and keeps them.
 */
export const openApiRoute = (app: INestApplication): RequestHandler => {
  let made: Promise<Documents> | undefined;
  const make = async (): Promise<Documents> => {
    const [{ openApiText, buildOpenApi }, { docsPage, DOCS_POLICY }] = await Promise.all([
      import('./openapi.js'),
      import('./docs-page.js'),
    ]);
    return { text: await openApiText(app), page: docsPage(await buildOpenApi(app)), policy: DOCS_POLICY };
  };
  return (request, response, next) => {
    const send = senderOf(request.path);
    if (!send || (request.method !== 'GET' && request.method !== 'HEAD')) {
      next();
      return;
    }
    (made ??= make()).then((documents) => send(documents, response), next);
  };
};

interface Documents {
  readonly text: string;
  readonly page: string;
  readonly policy: string;
}

const senderOf = (path: string): ((documents: Documents, response: Response) => void) | undefined => {
  switch (path) {
    case '/v1/openapi.json':
      return ({ text }, response) => void response.type('application/json').send(text);
    case '/v1/docs':
      return ({ page, policy }, response) =>
        void response.type('html').setHeader('Content-Security-Policy', policy).send(page);
    default:
      return undefined;
  }
};
