import { type INestApplication } from '@nestjs/common';
import { type RequestHandler } from 'express';

/** Serves `GET /v1/openapi.json` without an API key. Builds the document at the first request and keeps it. */
export const openApiRoute = (app: INestApplication): RequestHandler => {
  let text: Promise<string> | undefined;
  return (request, response, next) => {
    if (request.path !== '/v1/openapi.json' || (request.method !== 'GET' && request.method !== 'HEAD')) {
      next();
      return;
    }
    text ??= import('./openapi.js').then(({ openApiText }) => openApiText(app));
    text.then((body) => response.type('application/json').send(body), next);
  };
};
