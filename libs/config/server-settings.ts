import { parseRange } from '#libs/http/client-address.js';
import { choice, httpUrl, integer, list, optionalInteger, optionalText, text } from './setting.js';

const SERVER = 'Server';

const origin = (entry: string): string | undefined =>
  entry === '*' || (httpUrl(entry) !== undefined && new URL(entry).origin === entry)
    ? undefined
    : `"${entry}" is not an origin like https://app.example.com`;

const proxyRange = (entry: string): string | undefined => {
  try {
    parseRange(entry);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const thirtyTwoBytes = (given: string): string | undefined => {
  if (/^[0-9a-f]{64}$/i.test(given)) return given;
  const plain = given.replaceAll('-', '+').replaceAll('_', '/');
  return /^[A-Za-z0-9+/]{43}=?$/.test(plain) && Buffer.from(plain, 'base64').length === 32 ? plain : undefined;
};

export const server = {
  heapMb: optionalInteger({
    name: 'SLUICE_HEAP_MB',
    group: SERVER,
    min: 64,
    max: 1_048_576,
    unit: 'MB',
    shownDefault: '1920 with npm start; in the image half of the memory limit, less that of sandboxes',
    sentence:
      'Heap of a server, which npm start and the image pass to Node. Further limits on memory are parts of it. It has no effect from .env, on a program that is started otherwise, which warns of it, and on the command line: there, start Node with --max-old-space-size. `sluice config` shows the heap that npm start or the image gives a server.',
  }),
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
    sentence: 'URL at which clients reach this server; printed in endpoint URLs.',
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
    sentence: 'Folder that holds all data of the embedded engine.',
  }),
  registryDir: optionalText({
    name: 'SLUICE_REGISTRY_DIR',
    group: SERVER,
    shownDefault: '<data dir>/registry on the embedded engine, else none',
    allowed: 'a folder that this process may read',
    accept: (given) => given,
    sentence:
      'Folder of the component registry, which `sluice registry` fills. Its components are built at the start and after each change, and any workspace may deploy them by key.',
  }),
  diskFloorMb: integer({
    name: 'SLUICE_DISK_FLOOR_MB',
    group: SERVER,
    min: 1,
    max: 1_048_576,
    fallback: 64,
    unit: 'MB',
    sentence:
      'Free space of the data directory below which the embedded engine accepts no new data. Arrivals and changes are then answered 503, runs wait, and /readyz reports it until there is room.',
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
    sentence: 'Key that encrypts secrets at rest. They cannot be read without it, so keep a copy.',
  }),
  secretKeyPrevious: optionalText({
    name: 'SLUICE_SECRET_KEY_PREVIOUS',
    group: SERVER,
    shownDefault: 'none',
    secret: true,
    allowed: '32 bytes as 64 hexadecimal digits or in base64, another key than SLUICE_SECRET_KEY',
    accept: thirtyTwoBytes,
    sentence:
      'The former SLUICE_SECRET_KEY, while `sluice rotate-key` replaces it. Secrets under it stay readable, and new ones are encrypted under SLUICE_SECRET_KEY.',
  }),
  corsOrigins: list({
    name: 'SLUICE_CORS_ORIGINS',
    group: SERVER,
    allowed: 'origins (or *)',
    check: origin,
    sentence: 'Web origins whose pages may call the API from a browser.',
  }),
  trustedProxies: list({
    name: 'SLUICE_TRUSTED_PROXIES',
    group: SERVER,
    allowed: 'addresses and CIDR ranges',
    check: proxyRange,
    sentence:
      'Proxies whose X-Forwarded-For, -Proto and -Host are trusted. They decide the client address and URL of an event, and the address that limits count by. The same headers of any other peer are ignored.',
  }),
  metrics: choice({
    name: 'SLUICE_METRICS',
    group: SERVER,
    values: ['loopback', 'open'],
    fallback: 'loopback',
    sentence:
      'Clients that may read /metrics and the failing checks of /readyz: those on this machine without a proxy in between, or all.',
  }),
  logLevel: choice({
    name: 'SLUICE_LOG_LEVEL',
    group: SERVER,
    values: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    fallback: 'info',
    sentence: 'Least severe level of log lines that are written.',
  }),
} as const;
