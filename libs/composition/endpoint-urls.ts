import { type Config } from '#libs/config/index.js';
import { type EndpointUrls, hostEndpointUrls, pathEndpointUrls } from '#libs/sources/index.js';

/** Builds `https://<key>.<domain>` if a domain is set, else `<public url>/h/<key>`. */
export const endpointUrls = ({ endpointDomain }: Config, publicUrl: string): EndpointUrls =>
  endpointDomain === null ? pathEndpointUrls(() => publicUrl) : hostEndpointUrls(endpointDomain);
