import { BatchInterceptor } from '@mswjs/interceptors';
import { ClientRequestInterceptor } from '@mswjs/interceptors/ClientRequest';
import { FetchInterceptor } from '@mswjs/interceptors/fetch';
import { type AnsweredRequest, type HeaderPairs, type SentRequest } from '../protocol/test-link.js';

/** Statuses whose answers have no body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);

/** Answers the requests that code makes by `fetch`, `http` or `https`. */
export const answerRequests = (link: { request(request: SentRequest): Promise<AnsweredRequest> }): void => {
  const interceptor = new BatchInterceptor({
    name: 'component',
    interceptors: [new FetchInterceptor(), new ClientRequestInterceptor()],
  });
  interceptor.apply();
  interceptor.on('request', async ({ request, controller }) => {
    try {
      const { status, headers, body } = await link.request({
        method: request.method,
        url: request.url,
        headers: [...request.headers] satisfies HeaderPairs,
        body: Buffer.from(await request.clone().arrayBuffer()).toString('base64'),
      });
      const bytes = WITHOUT_BODY.has(status) ? null : Buffer.from(body, 'base64');
      controller.respondWith(new Response(bytes, { status, headers: headers.map(([name, value]) => [name, value]) }));
    } catch (error) {
      controller.errorWith(error instanceof Error ? error : new Error(String(error)));
    }
  });
};
