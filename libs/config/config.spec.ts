import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { configReference, describeConfig, loadConfig, publicUrlOf, unknownSettings, WrongSettings } from './config.js';
import { SETTINGS } from './settings.js';

const problems = (env: Record<string, string>): readonly string[] => {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof WrongSettings) return error.problems;
    throw error;
  }
  return [];
};

describe('settings', () => {
  it('have defaults', () => {
    expect(loadConfig({})).toMatchObject({
      port: 3000,
      host: '127.0.0.1',
      diskFloorMb: 64,
      dataDir: './.sluice',
      publicUrl: null,
      apiKey: null,
      engine: 'embedded',
      isolation: 'auto',
      accountEnv: [],
      egressAllow: [],
      egressProxy: null,
      egressNoProxy: [],
      egressProxyResolves: false,
      apiRate: 0,
      endpointRate: 0,
      runTimeoutS: null,
      eventsKept: 100,
      sourceEventsMb: 64,
      sourceUnreadMb: 256,
      pageMb: 8,
    });
  });

  it.each([
    ['SLUICE_PORT', '0', 'port', 0],
    ['SLUICE_PORT', ' 8080 ', 'port', 8080],
    ['SLUICE_PORT', '', 'port', 3000],
    ['SLUICE_PUBLIC_URL', 'https://Events.example.com/sluice/', 'publicUrl', 'https://events.example.com/sluice'],
    ['SLUICE_ENDPOINT_DOMAIN', 'M.example.com', 'endpointDomain', 'm.example.com'],
    ['SLUICE_API_KEY', 'k'.repeat(16), 'apiKey', 'k'.repeat(16)],
    ['SLUICE_SECRET_KEY', 'ab'.repeat(32), 'secretKey', 'ab'.repeat(32)],
    ['SLUICE_SECRET_KEY', Buffer.alloc(32, 255).toString('base64url'), 'secretKey', `${'/'.repeat(42)}8`],
    ['SLUICE_LOG_LEVEL', 'DEBUG', 'logLevel', 'debug'],
    ['SLUICE_EGRESS_ALLOW', '10.0.0.0/8, 127.0.0.1,', 'egressAllow', ['10.0.0.0/8', '127.0.0.1']],
    ['HTTPS_PROXY', 'http://u:p%40ss@proxy.example:3128', 'egressProxy', 'http://u:p%40ss@proxy.example:3128'],
    ['https_proxy', 'https://proxy.example', 'egressProxy', 'https://proxy.example'],
    [
      'NO_PROXY',
      'localhost,.a.example, *.b.example,10.0.0.0/8,[::1]:80',
      'egressNoProxy',
      ['localhost', '.a.example', '*.b.example', '10.0.0.0/8', '[::1]:80'],
    ],
    ['SLUICE_ACCOUNT_ENV', 'SLACK_TOKEN, GITHUB', 'accountEnv', ['SLACK_TOKEN', 'GITHUB']],
    [
      'SLUICE_CORS_ORIGINS',
      'https://a.example,http://localhost:8080',
      'corsOrigins',
      ['https://a.example', 'http://localhost:8080'],
    ],
    ['SLUICE_NPM_OFFLINE', 'no', 'npmOffline', false],
    ['SLUICE_NPM_OFFLINE', 'ON', 'npmOffline', true],
    ['SLUICE_PREFIX', 'staging_2', 'prefix', 'staging_2'],
    ['SLUICE_RUN_TIMEOUT_S', '900', 'runTimeoutS', 900],
    ['SLUICE_ENDPOINT_RATE', '0', 'endpointRate', 0],
    ...[
      'esdb://a:2113,b:2113,c:2113?tls=false',
      'esdb://a,b',
      'esdb+discover://u:p%40ss@es.example.com:2113?tls=true&tlsCaFile=/ca.crt&nodePreference=leader',
    ].map((url) => ['SLUICE_EVENTSTORE_URL', url, 'eventStoreUrl', url] as const),
    ...[
      'mongodb://a:1,b:2,c:3/x?replicaSet=rs0',
      'mongodb+srv://u:p%40ss@m.example.com/x?retryWrites=true',
      'mongodb://[::1]:27017,[2001:db8::1]/x',
      'mongodb://%2Ftmp%2Fmongodb-27017.sock/x',
    ].map((url) => ['SLUICE_MONGO_URL', url, 'mongoUrl', url] as const),
    [
      'SLUICE_KAFKA_BROKERS',
      'a:1, b.example.com:65535,[2001:db8::1]:9092,',
      'kafkaBrokers',
      ['a:1', 'b.example.com:65535', '[2001:db8::1]:9092'],
    ],
    ...['smtp://[::1]:25', 'smtps://u:p%40ss@m.example.com', 'smtp://m:25?tls.rejectUnauthorized=false'].map(
      (url) => ['SLUICE_SMTP_URL', url, 'smtpUrl', url] as const,
    ),
  ] as const)('%s=%j is read', (name, given, field, value) => {
    expect(loadConfig({ [name]: given })[field]).toEqual(value);
  });

  it.each(['proxy.example:3128', 'socks5://user:secret@proxy.example', 'http://user:secret@proxy.example/path'])(
    'HTTPS_PROXY=%j is refused without being shown',
    (given) => {
      const refusal = `HTTPS_PROXY is a value of ${given.length} characters; allowed: an http or https URL`;
      expect(problems({ HTTPS_PROXY: given })).toEqual([expect.stringContaining(refusal)]);
    },
  );

  it('shows no credentials of HTTPS_PROXY', () => {
    const shown = describeConfig(loadConfig({ HTTPS_PROXY: 'http://user:secret@proxy.example:3128' }));
    expect(shown.find(({ name }) => name === 'HTTPS_PROXY')).toMatchObject({ value: '(given)' });
    expect(JSON.stringify(shown)).not.toMatch(/user:|secret@/);
  });

  it('refuses a proxy that resolves names where there is none', () => {
    expect(problems({ SLUICE_EGRESS_PROXY_RESOLVES: 'true' })).toEqual([
      'SLUICE_EGRESS_PROXY_RESOLVES is given without HTTPS_PROXY: give both, or neither',
    ]);
  });

  it.each([
    ['SLUICE_PORT', '65536', 'SLUICE_PORT is "65536"; allowed: an integer from 0 to 65535, 0 = any free port'],
    ['SLUICE_PORT', '80a', 'SLUICE_PORT is "80a"; allowed: an integer from 0 to 65535, 0 = any free port'],
    ['SLUICE_PORT', '1e3', 'SLUICE_PORT is "1e3"; allowed: an integer from 0 to 65535, 0 = any free port'],
    ['SLUICE_MEMORY_MB', '8', 'SLUICE_MEMORY_MB is "8"; allowed: an integer from 32 to 10240, in MB'],
    [
      'SLUICE_MEMORY_MB',
      '512MB',
      'SLUICE_MEMORY_MB is "512MB" (write 512); allowed: an integer from 32 to 10240, in MB',
    ],
    [
      'SLUICE_RUN_TIMEOUT_S',
      '2 min',
      'SLUICE_RUN_TIMEOUT_S is "2 min" (write the number without a unit); allowed: an integer from 1 to 900, in seconds',
    ],
    [
      'SLUICE_EGRESS_ALLOW',
      'localhost',
      'SLUICE_EGRESS_ALLOW is "localhost" ("localhost" is not an address or CIDR range; write 127.0.0.1/32); allowed: addresses and CIDR ranges, separated by commas',
    ],
    ['SLUICE_ISOLATION', 'docker', 'SLUICE_ISOLATION is "docker"; allowed: one of auto, jail, bwrap, unshare, process'],
    ['SLUICE_NPM_OFFLINE', 'maybe', 'SLUICE_NPM_OFFLINE is "maybe"; allowed: true or false'],
    ['SLUICE_PREFIX', 'sluice.', 'SLUICE_PREFIX is "sluice."; allowed: 1 to 60 letters, digits and _'],
    [
      'SLUICE_PUBLIC_URL',
      'events.example.com',
      'SLUICE_PUBLIC_URL is "events.example.com"; allowed: an http or https URL without query',
    ],
    [
      'SLUICE_API_KEY',
      'short',
      'SLUICE_API_KEY is a value of 5 characters; allowed: 16 to 200 characters without blanks',
    ],
    [
      'SLUICE_SECRET_KEY',
      'ab'.repeat(31),
      'SLUICE_SECRET_KEY is a value of 62 characters; allowed: 32 bytes as 64 hexadecimal digits or in base64',
    ],
    [
      'SLUICE_KAFKA_BROKERS',
      'a:1,b',
      'SLUICE_KAFKA_BROKERS is "a:1,b" ("b" is not host:port); allowed: host:port, or [address]:port with an IPv6 address, separated by commas',
    ],
    [
      'SLUICE_KAFKA_BROKERS',
      '::1:9092',
      'SLUICE_KAFKA_BROKERS is "::1:9092" ("::1:9092" is not host:port; write an IPv6 address as [address]:port); allowed: host:port, or [address]:port with an IPv6 address, separated by commas',
    ],
  ])('%s=%j is refused', (name, given, problem) => {
    expect(problems({ [name]: given })).toEqual([problem]);
  });

  it.each([
    ['SLUICE_EGRESS_ALLOW', '10.0.0.0/33'],
    ['NO_PROXY', '10.0.0.0/33'],
    ['NO_PROXY', 'http://a.example'],
    ['SLUICE_ACCOUNT_ENV', 'SLACK_TOKEN,SLUICE_SECRET_KEY'],
    ['SLUICE_ACCOUNT_ENV', 'sluice_api_key'],
    ['SLUICE_ACCOUNT_ENV', 'A-B'],
    ['SLUICE_EGRESS_ALLOW', 'localhost'],
    ['SLUICE_CORS_ORIGINS', 'https://a.example/path'],
    ['SLUICE_ENDPOINT_DOMAIN', '*.example.com'],
    ['SLUICE_PUBLIC_URL', 'ftp://x'],
    ['SLUICE_RUN_TIMEOUT_S', '901'],
    ['SLUICE_HOST', 'http://x'],
    ['SLUICE_MONGO_URL', 'http://x'],
    ['SLUICE_MONGO_URL', 'mongodb://'],
    ['SLUICE_EVENTSTORE_URL', 'esdb://a:1, b:2'],
    ['SLUICE_EVENTSTORE_URL', 'kurrentdb://a:1'],
    ['SLUICE_KAFKA_BROKERS', 'a:0'],
    ['SLUICE_KAFKA_BROKERS', 'a:99999'],
    ['SLUICE_KAFKA_BROKERS', '[a]:9092'],
    ['SLUICE_KAFKA_BROKERS', 'PLAINTEXT://a:9092'],
  ])('%s=%j is refused and named', (name, given) => {
    expect(problems({ [name]: given })).toEqual([expect.stringContaining(`${name} is ${JSON.stringify(given)}`)]);
  });

  it.each([
    ['SLUICE_MONGO_URL', 'mongo://ada:S3cret@db'],
    ['SLUICE_MONGO_URL', 'mongodb:/ada:S3cret@db'],
    ['SLUICE_MONGO_URL', 'mongodb+srv//ada:S3cret@db'],
    ['SLUICE_EVENTSTORE_URL', 'http://ada:S3cret@a:2113,b:2113'],
    ['SLUICE_EVENTSTORE_URL', 'ada:S3cret@a:2113'],
    ['SLUICE_KAFKA_BROKERS', 'b:9092,ada:S3,cret@broker:9092'],
    ['SLUICE_PUBLIC_URL', 'https://ada:S3cret@sluice.example'],
    ['SLUICE_CORS_ORIGINS', 'https://ada:S3cret@app.example'],
    ['SLUICE_SMTP_URL', 'smtp//ada:S3cret@mail'],
    ['SLUICE_NPM_REGISTRY', 'ftp://ada:S3cret@npm.example'],
    ['SLUICE_NPM_TARBALL_HOSTS', 'https://ada:S3cret@cdn.example'],
    ['SLUICE_NPM_SCOPES', '{"@a": {"registry": "ftp://ada:S3cret@npm.example"}}'],
    ['SLUICE_ENDPOINT_DOMAIN', 'https://ada:S3cret@hooks.example'],
    ['SLUICE_TRUSTED_PROXIES', 'http://ada:S3cret@10.0.0.1'],
    ['SLUICE_PORT', 'postgres://ada:S3cret@db:1'],
  ])('%s=%j is refused without its password', (name, given) => {
    const [problem = '', ...more] = problems({ [name]: given });
    expect(more).toEqual([]);
    expect(problem).toContain(name);
    for (const part of ['S3', 'cret']) expect(problem).not.toContain(part);
  });

  it('are refused all at once', () => {
    const env = { SLUICE_PORT: 'x', SLUICE_LOG_LEVEL: 'loud', SLUICE_ENGINE: 'distributed' };
    expect(problems(env).map((problem) => problem.split(' ', 1)[0])).toEqual([
      'SLUICE_PORT',
      'SLUICE_LOG_LEVEL',
      'SLUICE_EVENTSTORE_URL',
      'SLUICE_MONGO_URL',
      'SLUICE_KAFKA_BROKERS',
      'SLUICE_PUBLIC_URL',
      'SLUICE_SECRET_KEY',
    ]);
    expect(() => loadConfig(env)).toThrow(/^wrong settings:\n {2}SLUICE_PORT is "x"/);
  });

  it.each([
    [{ SLUICE_EVENTSTORE_URL: 'es:2113' }, ['SLUICE_EVENTSTORE_URL']],
    [{ SLUICE_KAFKA_BROKERS: 'a', SLUICE_MONGO_URL: 'b' }, ['SLUICE_MONGO_URL', 'SLUICE_KAFKA_BROKERS']],
    [{ SLUICE_SECRET_KEY: 'short', SLUICE_SECRET_KEY_PREVIOUS: 'ab'.repeat(32) }, ['SLUICE_SECRET_KEY']],
    [{ SLUICE_KAFKA_SASL_MECHANISM: 'kerberos', SLUICE_KAFKA_USERNAME: 'u' }, ['SLUICE_KAFKA_SASL_MECHANISM']],
    [
      { SLUICE_KAFKA_SASL_MECHANISM: 'plain', SLUICE_KAFKA_USERNAME: 'a,b', SLUICE_KAFKA_PASSWORD: 'p' },
      ['SLUICE_KAFKA_USERNAME'],
    ],
  ])('%j are refused once, and not called missing as well', (env, names) => {
    const complete = {
      SLUICE_ENGINE: 'distributed',
      SLUICE_EVENTSTORE_URL: 'esdb://a',
      SLUICE_MONGO_URL: 'mongodb://a',
      SLUICE_KAFKA_BROKERS: 'a:1',
      SLUICE_PUBLIC_URL: 'http://a',
      SLUICE_SECRET_KEY: 'ab'.repeat(32),
    };
    expect(problems({ ...complete, ...env }).map((problem) => problem.split(' ', 1)[0])).toEqual(names);
  });

  it('are named with the nearest known one when unknown', () => {
    const warnings: string[] = [];
    loadConfig({ SLUICE_PROT: '1', SLUICE_MAX_BODY: '2', SLUICE_COLOUR_OF_THE_SKY: 'blue', OTHER: 'x' }, (text) =>
      warnings.push(text),
    );
    expect(warnings).toEqual([
      'SLUICE_COLOUR_OF_THE_SKY is no setting of this version and has no effect',
      'SLUICE_MAX_BODY is no setting of this version and has no effect: did you mean SLUICE_MAX_BODY_KB?',
      'SLUICE_PROT is no setting of this version and has no effect: did you mean SLUICE_PORT?',
    ]);
  });

  it('are not the address of the server that commands ask', () =>
    expect(
      unknownSettings({ SLUICE_URL: 'https://sluice.example', SLUICE_CONFIG: '/c.json', SLUICE_PROFILE: 'work' }),
    ).toEqual([]));

  it('are described without secrets', () => {
    const config = loadConfig({
      SLUICE_API_KEY: 'very-secret-api-key',
      SLUICE_SECRET_KEY: 'ab'.repeat(32),
      SLUICE_MONGO_URL: 'mongodb://user:hunter2@db.example/x',
      SLUICE_PORT: '0',
    });
    const described = describeConfig(config);
    const text = JSON.stringify(described);
    for (const secret of ['very-secret-api-key', 'ab'.repeat(32), 'hunter2']) expect(text).not.toContain(secret);
    const shown = Object.fromEntries(described.map(({ name, value, isDefault }) => [name, [value, isDefault]]));
    expect(shown).toMatchObject({
      SLUICE_API_KEY: ['(given)', false],
      SLUICE_MONGO_URL: ['mongodb://user:***@db.example/x', false],
      SLUICE_PORT: ['0', false],
      SLUICE_HOST: ['127.0.0.1', true],
      SLUICE_RUN_TIMEOUT_S: ['30 for HTTP, events and actions, 60 for timers', true],
    });
    expect(described).toHaveLength(Object.keys(SETTINGS).length);
  });

  it('each have a line in the reference', () => {
    const page = configReference();
    for (const { name, sentence } of Object.values(SETTINGS)) {
      expect(page).toContain(`| \`${name}\` |`);
      expect(sentence).toMatch(/\.$/);
    }
    expect(page.endsWith('|\n')).toBe(true);
    // Out of date? npm run sluice -- config --reference > docs/reference/config.md
    expect(readFileSync(new URL('../../docs/reference/config.md', import.meta.url), 'utf8')).toBe(page);
  });

  it.each([
    [{}, 3000, 'http://127.0.0.1:3000'],
    [{ SLUICE_HOST: '0.0.0.0' }, 5, 'http://127.0.0.1:5'],
    [{ SLUICE_HOST: '::1' }, 5, 'http://[::1]:5'],
    [{ SLUICE_PUBLIC_URL: 'https://x.example/' }, 5, 'https://x.example'],
  ])('%j on port %i is reached at %s', (env, port, address) => {
    expect(publicUrlOf(loadConfig(env), port)).toBe(address);
  });
});
