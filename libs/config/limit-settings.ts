import { integer, optionalInteger } from './setting.js';

const LIMITS = 'Limits of the API and of endpoints';

export const limits = {
  apiRate: integer({
    name: 'SLUICE_API_RATE',
    group: LIMITS,
    min: 0,
    max: 1_000_000,
    fallback: 0,
    unit: 'requests per minute',
    zero: 'no limit',
    sentence:
      'API requests of one user, over all keys of that user; 100 may arrive at once. Back-pressure protects the server without it.',
  }),
  endpointRate: integer({
    name: 'SLUICE_ENDPOINT_RATE',
    group: LIMITS,
    min: 0,
    max: 1_000_000,
    fallback: 0,
    unit: 'requests per second',
    zero: 'no limit',
    sentence: 'Requests to one endpoint; 50 may arrive at once. Back-pressure protects the server without it.',
  }),
  maxBodyKb: integer({
    name: 'SLUICE_MAX_BODY_KB',
    group: LIMITS,
    min: 1,
    // Twice this and the headers fit EVENT_BYTES (stream-log/record-limits.ts).
    max: 3_500,
    fallback: 512,
    unit: 'KB',
    sentence:
      'Largest body that an endpoint takes. An event holds it parsed and raw, and must fit a record of the log with its error.',
  }),
  sourceBacklog: optionalInteger({
    name: 'SLUICE_SOURCE_BACKLOG',
    group: LIMITS,
    min: 1,
    max: 1_000_000,
    unit: 'events',
    shownDefault: '512 on the embedded engine, 4000 on servers',
    sentence:
      'Events of one source in flight (invocations, emits not yet routed, deliveries to healthy webhooks), above which its arrivals first wait and are then refused. A workspace may have four times as many, on servers for each runner. On the embedded engine each waits for 50 ms at most from three eighths of it on.',
  }),
  maxSources: integer({
    name: 'SLUICE_MAX_SOURCES',
    group: LIMITS,
    min: 1,
    max: 1_000_000,
    fallback: 10_000,
    unit: 'sources',
    sentence: 'Sources that a workspace may have.',
  }),
  maxWebhooks: integer({
    name: 'SLUICE_MAX_WEBHOOKS',
    group: LIMITS,
    min: 1,
    max: 1_000_000,
    fallback: 10_000,
    unit: 'webhooks',
    sentence: 'Webhooks that a workspace may have.',
  }),
  maxWorkflows: integer({
    name: 'SLUICE_MAX_WORKFLOWS',
    group: LIMITS,
    min: 1,
    max: 1_000_000,
    fallback: 1_000,
    unit: 'workflows',
    sentence: 'Workflows that a workspace may have.',
  }),
  waitingRuns: integer({
    name: 'SLUICE_WAITING_RUNS',
    group: LIMITS,
    min: 1,
    max: 1_000_000,
    fallback: 100_000,
    unit: 'runs',
    sentence: 'Runs of a workflow that may wait at a time.',
  }),
  mcpWaitS: integer({
    name: 'SLUICE_MCP_WAIT_S',
    group: LIMITS,
    min: 1,
    max: 300,
    fallback: 60,
    unit: 'seconds',
    sentence: 'How long a call of a tool waits for the run of its workflow. The run goes on after it.',
  }),
  maxSubscriptions: integer({
    name: 'SLUICE_MAX_SUBSCRIPTIONS',
    group: LIMITS,
    min: 1,
    max: 1_000_000,
    fallback: 10_000,
    unit: 'subscriptions',
    sentence: 'Subscriptions that a workspace may have; they are listed without pages.',
  }),
  streamsPerUser: integer({
    name: 'SLUICE_STREAMS_PER_USER',
    group: LIMITS,
    min: 1,
    max: 100_000,
    fallback: 500,
    unit: 'streams',
    sentence:
      'Live streams that one user may have open in each process that serves reads. A workspace may have five times as many, the process ten times.',
  }),
  dailyCredits: integer({
    name: 'SLUICE_DAILY_CREDITS',
    group: LIMITS,
    min: 0,
    max: 2_147_483_647,
    fallback: 0,
    unit: 'credits',
    zero: 'no limit',
    sentence:
      'Credits of a workspace in a UTC day, one for each begun 30 s of a run. Beyond it endpoints and requests that start a run answer 429.',
  }),
} as const;
