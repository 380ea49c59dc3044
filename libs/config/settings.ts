import { AddressPolicy } from '#libs/egress/address-policy.js';
import { engines } from './engine-settings.js';
import { choice, flag, httpUrl, integer, list, optionalInteger, optionalText, text, type Setting } from './setting.js';

const SERVER = 'Server';
const LIMITS = 'Limits of the API and of endpoints';
const RUNS = 'Runs';
const EVENTS = 'Events';
const WEBHOOKS = 'Webhooks and outgoing requests';

const origin = (entry: string): string | undefined =>
  entry === '*' || (httpUrl(entry) !== undefined && new URL(entry).origin === entry)
    ? undefined
    : `"${entry}" is not an origin like https://app.example.com`;

const range = (entry: string): string | undefined => {
  try {
    new AddressPolicy([entry]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^SLUICE_EGRESS_ALLOW: /, '') : String(error);
  }
};

const thirtyTwoBytes = (given: string): string | undefined => {
  if (/^[0-9a-f]{64}$/i.test(given)) return given;
  const plain = given.replaceAll('-', '+').replaceAll('_', '/');
  return /^[A-Za-z0-9+/]{43}=?$/.test(plain) && Buffer.from(plain, 'base64').length === 32 ? plain : undefined;
};

const server = {
  port: integer({
    name: 'SLUICE_PORT',
    group: SERVER,
    min: 0,
    max: 65535,
    fallback: 3000,
    zero: 'any free port',
    sentence: 'Port that the API and the endpoints listen on.',
  }),
  host: text({
    name: 'SLUICE_HOST',
    group: SERVER,
    fallback: '127.0.0.1',
    allowed: 'an address or host name of this machine',
    accept: (given) => (/^[A-Za-z0-9.:_-]+$/.test(given) ? given : undefined),
    sentence: 'Address to listen on; 0.0.0.0 for all.',
  }),
  publicUrl: optionalText({
    name: 'SLUICE_PUBLIC_URL',
    group: SERVER,
    shownDefault: 'http://<host>:<port>',
    allowed: 'an http or https URL without query',
    accept: httpUrl,
    sentence: 'How the world reaches this server; printed in endpoint URLs.',
  }),
  endpointDomain: optionalText({
    name: 'SLUICE_ENDPOINT_DOMAIN',
    group: SERVER,
    shownDefault: 'none: endpoints are <public url>/h/<key>',
    allowed: 'a domain name, without *.',
    accept: (given) => (/^(?!-)[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(given) ? given.toLowerCase() : undefined),
    sentence:
      'Domain whose sub-domains are endpoints (https://<key>.<domain>); DNS and TLS for *.<domain> are yours to set up.',
  }),
  dataDir: text({
    name: 'SLUICE_DATA_DIR',
    group: SERVER,
    fallback: './.sluice',
    allowed: 'a folder that this process may write',
    sentence: 'Where everything is kept on the embedded engines.',
  }),
  apiKey: optionalText({
    name: 'SLUICE_API_KEY',
    group: SERVER,
    shownDefault: 'made at the first start and printed once',
    secret: true,
    allowed: '16 to 200 characters without blanks',
    accept: (given) => (/^[\x21-\x7e]{16,200}$/.test(given) ? given : undefined),
    sentence:
      "The owner's API key. A changed one is added at the next start; the former stays valid until it is revoked.",
  }),
  secretKey: optionalText({
    name: 'SLUICE_SECRET_KEY',
    group: SERVER,
    shownDefault: '<data dir>/secret.key, made at the first start',
    secret: true,
    allowed: '32 bytes as 64 hexadecimal digits or in base64',
    accept: thirtyTwoBytes,
    sentence: 'Key that secrets are encrypted with at rest. Without it they cannot be read again: keep a copy.',
  }),
  corsOrigins: list({
    name: 'SLUICE_CORS_ORIGINS',
    group: SERVER,
    allowed: 'origins (or *)',
    check: origin,
    sentence: 'Web origins whose pages may call the API from a browser.',
  }),
  logLevel: choice({
    name: 'SLUICE_LOG_LEVEL',
    group: SERVER,
    values: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    fallback: 'info',
    sentence: 'Least severe log lines that are written.',
  }),
} as const;

const limits = {
  apiRate: integer({
    name: 'SLUICE_API_RATE',
    group: LIMITS,
    min: 0,
    max: 1_000_000,
    fallback: 600,
    unit: 'requests per minute',
    zero: 'no limit',
    sentence: 'Requests of one API key.',
  }),
  apiBurst: integer({
    name: 'SLUICE_API_BURST',
    group: LIMITS,
    min: 1,
    max: 1_000_000,
    fallback: 100,
    unit: 'requests',
    sentence: 'Requests of one API key that may come at once.',
  }),
  endpointRate: integer({
    name: 'SLUICE_ENDPOINT_RATE',
    group: LIMITS,
    min: 0,
    max: 1_000_000,
    fallback: 10,
    unit: 'requests per second',
    zero: 'no limit',
    sentence: 'Requests to one endpoint.',
  }),
  endpointBurst: integer({
    name: 'SLUICE_ENDPOINT_BURST',
    group: LIMITS,
    min: 1,
    max: 1_000_000,
    fallback: 50,
    unit: 'requests',
    sentence: 'Requests to one endpoint that may come at once.',
  }),
  maxBodyKb: integer({
    name: 'SLUICE_MAX_BODY_KB',
    group: LIMITS,
    min: 1,
    max: 65_536,
    fallback: 512,
    unit: 'KB',
    sentence: 'Largest body that an endpoint takes.',
  }),
  codeMaxKb: integer({
    name: 'SLUICE_CODE_MAX_KB',
    group: LIMITS,
    min: 1,
    max: 16_384,
    fallback: 1024,
    unit: 'KB',
    sentence: 'Largest component code.',
  }),
} as const;

const runs = {
  isolation: choice({
    name: 'SLUICE_ISOLATION',
    group: RUNS,
    values: ['auto', 'jail', 'process', 'vm2'],
    fallback: 'auto',
    sentence:
      'How component code is kept apart: jail (namespaces, strongest) or process; auto takes the strongest that this machine allows; vm2 is auto, with a vm2 realm around each component besides (slower, little of the standard library).',
  }),
  sandboxes: integer({
    name: 'SLUICE_SANDBOXES',
    group: RUNS,
    min: 1,
    max: 10_000,
    fallback: 50,
    unit: 'processes',
    sentence: 'Sandbox processes at once; the one that was idle longest makes room.',
  }),
  sandboxIdleS: integer({
    name: 'SLUICE_SANDBOX_IDLE_S',
    group: RUNS,
    min: 1,
    max: 86_400,
    fallback: 300,
    unit: 'seconds',
    sentence: 'A sandbox without work ends after this time.',
  }),
  memoryMb: integer({
    name: 'SLUICE_MEMORY_MB',
    group: RUNS,
    min: 32,
    max: 10_240,
    fallback: 256,
    unit: 'MB',
    sentence: 'Heap of one sandbox.',
  }),
  runTimeoutS: optionalInteger({
    name: 'SLUICE_RUN_TIMEOUT_S',
    group: RUNS,
    min: 1,
    max: 900,
    unit: 'seconds',
    shownDefault: '30 for HTTP and events, 60 for timers',
    sentence: 'Longest run; one value for all kinds when set.',
  }),
  hookTimeoutS: integer({
    name: 'SLUICE_HOOK_TIMEOUT_S',
    group: RUNS,
    min: 1,
    max: 900,
    fallback: 60,
    unit: 'seconds',
    sentence: 'Longest deploy, activate or deactivate hook.',
  }),
  sourceConcurrency: integer({
    name: 'SLUICE_SOURCE_CONCURRENCY',
    group: RUNS,
    min: 1,
    max: 1000,
    fallback: 10,
    unit: 'runs',
    sentence: 'Runs of one source at once, when it has no $.service.db (those run one at a time).',
  }),
  timerFirstTick: flag({
    name: 'SLUICE_TIMER_FIRST_TICK',
    group: RUNS,
    fallback: true,
    sentence: 'Whether an interval timer fires at once when its source is deployed.',
  }),
} as const;

const events = {
  eventsKept: integer({
    name: 'SLUICE_EVENTS_KEPT',
    group: EVENTS,
    min: 1,
    max: 100_000,
    fallback: 100,
    unit: 'events',
    sentence: 'Events readable for each source and channel.',
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
    sentence: 'Size up to which the emits of one source stay in the log.',
  }),
} as const;

const webhooks = {
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
  webhookMaxAttempts: integer({
    name: 'SLUICE_WEBHOOK_MAX_ATTEMPTS',
    group: WEBHOOKS,
    min: 1,
    max: 10,
    fallback: 10,
    unit: 'attempts',
    sentence: 'Attempts of one delivery, over about three days; 1 never retries.',
  }),
  egressAllow: list({
    name: 'SLUICE_EGRESS_ALLOW',
    group: WEBHOOKS,
    allowed: 'addresses and CIDR ranges',
    check: range,
    sentence:
      'Private addresses that webhooks, components and URLs given by users may reach besides the public internet.',
  }),
} as const;

/** Every setting, in the order of the reference. */
export const SETTINGS = { ...server, ...limits, ...runs, ...events, ...webhooks, ...engines } as const;

type ValueOf<S> = S extends Setting<infer T> ? T : never;

/** The settings of one process, checked. */
export type Config = { readonly [K in keyof typeof SETTINGS]: ValueOf<(typeof SETTINGS)[K]> };
