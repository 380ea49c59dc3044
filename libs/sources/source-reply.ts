import {
  boolean,
  integer,
  listOf,
  milliseconds,
  named,
  nullable,
  object,
  optional,
  record,
  revisionField,
  seconds,
  text,
  type TypeOf,
} from '#libs/http/reply-schema.js';
import { type PackageChanges } from '#libs/component-model/package-lock.js';
import { epochSeconds } from '#libs/kernel/clock.js';
import { type EndpointUrls } from './domain/endpoint-urls.js';
import { SECRET_MASK } from './domain/secret-mask.js';
import { type SourceRecord } from './domain/source.js';
import { type PlannedProp, type SourceDefinition } from './published.js';

/** Source as in docs/reference/rest-api.md#source-fields. */
export const Source = named('Source', {
  id: text('`dc_…`'),
  owner_id: text('The workspace'),
  component_id: text('`sc_…`'),
  component_key: nullable(text('Key that the component declares')),
  configured_props: record('Values by prop; secrets are masked; endpoints, timers and events of apps shown'),
  active: boolean('Whether it runs'),
  revision: revisionField(),
  created_at: seconds('Epoch seconds of the end of the deployment'),
  updated_at: seconds(),
  name: text('Name for people'),
  name_slug: text('Unique in the workspace'),
});

const Versioned = object({ name: text('Name of the npm package'), version: text('Exact version') });

const PackageChangesReply = named('PackageChanges', {
  added: listOf(Versioned, 'Packages that were not there before'),
  removed: listOf(Versioned, 'Packages that are not there any more'),
  changed: listOf(
    object({ name: text('Name of the npm package'), from: text('Version before'), to: text('Version now') }),
    'Packages with another version',
  ),
});

/** Source in the replies of create and update. `packages` is present only after `refresh_packages`. */
export const ChangedSource = named('ChangedSource', {
  ...Source.fields,
  user_id: text('`u_…`, the user who deployed it'),
  packages: optional(PackageChangesReply),
});

/** Times are epoch milliseconds, unlike those of the source. */
const Stats = object(
  {
    last_event_at: nullable(milliseconds('Epoch milliseconds of its last event; null without one')),
    last_error_at: nullable(milliseconds('Epoch milliseconds of its last error; null without one')),
    next_run_at: nullable(milliseconds('Epoch milliseconds of the next tick of its timers; null without one')),
    events_24h: integer('Events in this hour and the 23 before'),
    errors_24h: integer('Runs and hooks that failed in this hour and the 23 before'),
  },
  'Present with `include_stats=true`',
);
export type SourceStats = TypeOf<typeof Stats>;

export const ListedSource = named('ListedSource', { ...Source.fields, stats: optional(Stats) });
export type ListedSourceReply = TypeOf<typeof ListedSource>;

export type SourceReply = TypeOf<typeof Source>;
export type ChangedSourceReply = TypeOf<typeof ChangedSource>;

export const sourceReply = (
  source: SourceRecord,
  revision: number,
  workspaceId: string,
  urls: EndpointUrls,
): SourceReply => ({
  id: source.sourceId,
  owner_id: workspaceId,
  component_id: source.definition.componentId,
  component_key: source.definition.componentKey,
  configured_props: configuredProps(source.definition, urls),
  active: source.active,
  revision,
  created_at: epochSeconds(source.createdAt),
  updated_at: epochSeconds(source.updatedAt),
  name: source.name,
  name_slug: source.nameSlug,
});

export const changedSourceReply = (
  source: SourceRecord,
  revision: number,
  workspaceId: string,
  urls: EndpointUrls,
  packages?: PackageChanges,
): ChangedSourceReply => {
  const { id, ...rest } = sourceReply(source, revision, workspaceId, urls);
  return { id, user_id: source.userId, ...rest, ...(packages === undefined ? {} : { packages }) };
};

const configuredProps = ({ props }: SourceDefinition, urls: EndpointUrls): Record<string, unknown> =>
  Object.fromEntries(
    props.flatMap((planned) => {
      const shown = shownOf(planned, urls);
      return shown === undefined ? [] : [[planned.prop, shown]];
    }),
  );

/** Undefined for a prop without a configured value. */
const shownOf = (planned: PlannedProp, urls: EndpointUrls): unknown => {
  switch (planned.kind) {
    case 'value':
    case 'request':
    case 'store':
    case 'app':
      return planned.value;
    case 'secret':
      return SECRET_MASK;
    case 'http':
      return { endpoint_url: urls.urlOf(planned.key), key: planned.key };
    case 'timer': {
      const { cron, intervalSeconds, timezone } = planned;
      return { cron, interval_seconds: intervalSeconds, ...(timezone === null ? {} : { timezone }) };
    }
    case 'apphook':
      return { app: planned.app, event_names: planned.eventNames };
    case 'db':
    case 'dir':
      return undefined;
  }
};
