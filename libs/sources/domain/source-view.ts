import { epochSeconds } from '#libs/kernel/clock.js';
import { SECRET_MASK } from './props.js';
import { type SourceRecord } from './source.js';
import { type SourceDefinition } from '../published.js';

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

/** See docs/reference/rest-api.md#source-fields. `owner_id` is the workspace. Times are epoch seconds. */
export interface SourceReply {
  readonly id: string;
  /** Only in replies of create and update. */
  readonly user_id?: string;
  readonly owner_id: string;
  readonly component_id: string;
  readonly component_key: string | null;
  readonly configured_props: Readonly<Record<string, unknown>>;
  readonly active: boolean;
  readonly created_at: number;
  readonly updated_at: number;
  readonly name: string;
  readonly name_slug: string;
}

export const sourceReply = (source: SourceRecord, workspaceId: string, urls: EndpointUrls): SourceReply => ({
  id: source.sourceId,
  owner_id: workspaceId,
  component_id: source.definition.componentId,
  component_key: source.definition.componentKey,
  configured_props: configuredProps(source.definition, urls),
  active: source.active,
  created_at: epochSeconds(source.createdAt),
  updated_at: epochSeconds(source.updatedAt),
  name: source.name,
  name_slug: source.nameSlug,
});

export const sourceReplyWithUser = (source: SourceRecord, workspaceId: string, urls: EndpointUrls): SourceReply => {
  const { id, ...rest } = sourceReply(source, workspaceId, urls);
  return { id, user_id: source.userId, ...rest };
};

const configuredProps = (definition: SourceDefinition, urls: EndpointUrls): Record<string, unknown> =>
  Object.fromEntries<unknown>([
    ...Object.entries(definition.values).map(
      ([prop, configured]) => [prop, 'secretRef' in configured ? SECRET_MASK : configured.value] as const,
    ),
    ...definition.endpoints.map(({ prop, key }) => [prop, { endpoint_url: urls.urlOf(key), key }] as const),
    ...definition.timers.map(
      ({ prop, cron, intervalSeconds, timezone }) =>
        [prop, { cron, interval_seconds: intervalSeconds, ...(timezone === null ? {} : { timezone }) }] as const,
    ),
  ]);
