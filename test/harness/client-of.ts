import { ApiClient, type Target } from './api-client.js';

/** A client of one process of a deployment, which bypasses the proxy. It follows the process to its later ports. */
export const clientOf = (server: Pick<Target, 'url'>, { apiKey }: Pick<Target, 'apiKey'>): ApiClient =>
  new ApiClient({
    get url() {
      return server.url;
    },
    apiKey,
  });
