import { AddressPolicy } from '#libs/egress/address-policy.js';
import { wrongNoProxy } from '#libs/egress/no-proxy.js';
import { proxyServerOf } from '#libs/egress/proxy-connect.js';
import { flag, integer, list, optionalText } from './setting.js';

const EVENTS = 'Events';
const WEBHOOKS = 'Webhooks and outgoing requests';

const variable = (entry: string): string | undefined => {
  if (!/^[A-Za-z_]\w*$/.test(entry)) return `${JSON.stringify(entry)} is no name of a variable`;
  return /^SLUICE_/i.test(entry) ? `${entry} is a setting of the server, which credentials must not hold` : undefined;
};

const range = (entry: string): string | undefined => {
  try {
    new AddressPolicy([entry]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^SLUICE_EGRESS_ALLOW: /, '') : String(error);
  }
};

export const events = {
  eventsKept: integer({
    name: 'SLUICE_EVENTS_KEPT',
    group: EVENTS,
    min: 1,
    max: 100_000,
    fallback: 100,
    unit: 'events',
    sentence: 'Events readable for each source and channel; 100 times as many for each source over all its channels.',
  }),
  sourceEventsMb: integer({
    name: 'SLUICE_SOURCE_EVENTS_MB',
    group: EVENTS,
    min: 1,
    max: 1_048_576,
    fallback: 64,
    unit: 'MB',
    sentence:
      'Size up to which the events of one source stay readable: those of its own channels together, its errors, and its logs; 16 times that for a workspace. The oldest go first.',
  }),
  sourceUnreadMb: integer({
    name: 'SLUICE_SOURCE_UNREAD_MB',
    group: EVENTS,
    min: 1,
    max: 1_048_576,
    fallback: 256,
    unit: 'MB',
    sentence:
      'Size of the events that wait for one source, or of the deliveries that wait for one webhook, also for their next attempt; above it, arrivals of the source are answered 429 and emits for the listener wait. A workspace may have eight times as much.',
  }),
  pageMb: integer({
    name: 'SLUICE_PAGE_MB',
    group: EVENTS,
    min: 1,
    max: 1024,
    fallback: 8,
    unit: 'MB',
    sentence:
      'Size of whole events in one page (expand=event); a page ends early when the next event does not fit, one event alone always fits.',
  }),
  emitsRetentionDays: integer({
    name: 'SLUICE_EMITS_RETENTION_DAYS',
    group: EVENTS,
    min: 1,
    max: 3650,
    fallback: 7,
    unit: 'days',
    sentence: 'Age up to which emits stay in the log, for rebuilds and replays.',
  }),
  emitsRetentionMb: integer({
    name: 'SLUICE_EMITS_RETENTION_MB',
    group: EVENTS,
    min: 1,
    max: 1_048_576,
    fallback: 1024,
    unit: 'MB',
    sentence:
      'Size up to which the emits of one source stay in the log. When the emits not yet routed alone exceed it, the source pauses and its arrivals are answered 429.',
  }),
} as const;

export const webhooks = {
  webhookConcurrency: integer({
    name: 'SLUICE_WEBHOOK_CONCURRENCY',
    group: WEBHOOKS,
    min: 1,
    max: 1000,
    fallback: 32,
    unit: 'deliveries',
    sentence: 'Deliveries to one webhook at once.',
  }),
  webhookTimeoutS: integer({
    name: 'SLUICE_WEBHOOK_TIMEOUT_S',
    group: WEBHOOKS,
    min: 1,
    max: 30,
    fallback: 5,
    unit: 'seconds',
    sentence: 'Time that a webhook has to answer.',
  }),
  webhookDisableAfter: integer({
    name: 'SLUICE_WEBHOOK_DISABLE_AFTER',
    group: WEBHOOKS,
    min: 0,
    max: 10_000,
    fallback: 0,
    unit: 'deliveries',
    sentence: 'Deliveries that fail for good in a row before the server disables their webhook; 0 never does.',
  }),
  accountEnv: list({
    name: 'SLUICE_ACCOUNT_ENV',
    group: WEBHOOKS,
    allowed: 'names of environment variables, none of them SLUICE_',
    check: variable,
    sentence:
      'Variables that credentials of accounts may refer to; set each for runner and command-api. Every user of the server can read them.',
  }),
  egressAllow: list({
    name: 'SLUICE_EGRESS_ALLOW',
    group: WEBHOOKS,
    allowed: 'addresses and CIDR ranges',
    check: range,
    sentence:
      'Private addresses that webhooks, components and URLs given by users may reach besides the public internet.',
  }),
  egressProxy: optionalText({
    name: 'HTTPS_PROXY',
    group: WEBHOOKS,
    shownDefault: 'none',
    // It may hold credentials.
    secret: true,
    allowed: 'an http or https URL without path, with user and password if need be',
    accept: (given) => (proxyServerOf(given) === undefined ? undefined : given),
    sentence:
      'HTTP proxy for webhooks, components, URLs given by users, npm packages and object storage, plain HTTP included. It must allow CONNECT to the ports that they use. What they may reach stays the same. The name in small letters counts too.',
  }),
  egressNoProxy: list({
    name: 'NO_PROXY',
    group: WEBHOOKS,
    allowed: 'names (with those below them), addresses, CIDR ranges, each with a port if need be, or *',
    check: wrongNoProxy,
    sentence: 'Hosts that are reached without HTTPS_PROXY, if they may be reached at all.',
  }),
  egressProxyResolves: flag({
    name: 'SLUICE_EGRESS_PROXY_RESOLVES',
    group: WEBHOOKS,
    fallback: false,
    sentence:
      'Hands names to HTTPS_PROXY where they cannot be resolved here. The proxy then decides alone which private addresses a name may lead to.',
  }),
} as const;
