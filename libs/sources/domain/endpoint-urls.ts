/** Prints one of the two addresses of an endpoint. See docs/reference/rest-api.md#endpoint-addresses. */
export interface EndpointUrls {
  urlOf(key: string): string;
}

/** Prints `{publicUrl}/h/<key>`. Reads the URL each time, because a server may learn its port late. */
export const pathEndpointUrls = (publicUrl: () => string): EndpointUrls => ({
  urlOf: (key) => `${publicUrl().replace(/\/+$/, '')}/h/${key}`,
});

/** Prints `https://<key>.<domain>`. */
export const hostEndpointUrls = (domain: string, protocol: 'http' | 'https' = 'https'): EndpointUrls => ({
  urlOf: (key) => `${protocol}://${key}.${domain}`,
});
