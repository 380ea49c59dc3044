import { Logger as NestLog } from '@nestjs/common';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { afterEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { type FinishedRequest } from '#libs/http/configure-http.js';
import { TrustedProxies } from '#libs/http/client-address.js';
import { OperatorAccess } from '#libs/http/operator-access.js';
import { httpTestApp, TEST_KEY, type HttpTestAppOptions } from '#libs/http/testing/http-test-app.js';
import {
  createLogger,
  httpObserver,
  Metrics,
  NestLogger,
  Readiness,
  type ServerFacts,
  TelemetryModule,
  unitOfWork,
} from './index.js';

const logged = () => {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
  return { lines, logger: (level = 'trace') => createLogger({ level, role: 'test', destination: { write } }) };
};

describe('log lines', () => {
  it('are JSON with time, level and role, without credentials', () => {
    const { lines, logger } = logged();
    logger().info({ req: { headers: { authorization: 'Bearer x' } }, apiKey: 'y', n: 1 }, 'hello');
    expect(lines).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-.*Z$/),
        role: 'test',
        req: { headers: { authorization: '********' } },
        apiKey: '********',
        n: 1,
        msg: 'hello',
      },
    ]);
  });

  it('of Nest pass through the same logger', () => {
    const { lines, logger } = logged();
    const nest = new NestLogger(logger());
    nest.log('mapped', 'RouterExplorer');
    nest.error('broke', 'Error: broke\n  at x', 'Handler');
    nest.error({ msg: 'unexpected error', requestId: 'r1', err: new Error('why') }, 'http');
    nest.warn(new Error('careful'));
    expect(lines).toMatchObject([
      { level: 'debug', msg: 'mapped', context: 'RouterExplorer' },
      { level: 'error', msg: 'broke', stack: 'Error: broke\n  at x', context: 'Handler' },
      { level: 'error', msg: 'unexpected error', requestId: 'r1', err: { message: 'why' }, context: 'http' },
      { level: 'warn', msg: 'careful', err: { type: 'Error' } },
    ]);
  });

  it('are written once for each unit of work', () => {
    const { lines, logger } = logged();
    let now = 100;
    const work = unitOfWork(logger(), 'source.deploy', { source: 'dc_1' }, () => now);
    work.add({ hooks: 2 });
    now += 12.34;
    work.done({ status: 'ok' });
    work.failed(new Error('too late'));
    unitOfWork(logger(), 'source.deploy', {}, () => now).failed(new Error('no'));
    expect(lines).toMatchObject([
      { level: 'info', msg: 'source.deploy', source: 'dc_1', hooks: 2, status: 'ok', ms: 12.3 },
      { level: 'error', msg: 'source.deploy', err: { message: 'no' }, ms: 0 },
    ]);
    expect(lines).toHaveLength(2);
  });
});

const SERVER: ServerFacts = {
  version: '1.2.3',
  engine: 'embedded',
  isolation: 'bwrap',
  public_url: 'http://127.0.0.1:3000',
  endpoint_form: 'path',
  started_at: 1_700_000_000_000,
  emails: false,
  registry: true,
};

describe('health, readiness and metrics', () => {
  let app: NestExpressApplication | undefined;
  afterEach(async () => {
    await app?.close();
    app = undefined;
    NestLog.overrideLogger(false);
  });
  const start = async (readiness: Readiness, metrics = new Metrics(), options: Partial<HttpTestAppOptions> = {}) => {
    app = await httpTestApp({
      ...options,
      imports: [
        TelemetryModule.forRoot({
          readiness,
          metrics,
          access: new OperatorAccess('loopback', new TrustedProxies()),
          server: SERVER,
        }),
      ],
    });
    return request(app.getHttpServer());
  };

  it('need no API key', async () => {
    const http = await start(new Readiness());
    for (const path of ['/healthz', '/readyz', '/metrics', '/readyz/']) expect((await http.get(path)).status).toBe(200);
    expect((await http.get('/healthz')).body).toEqual({ status: 'ok' });
  });

  // docs/reference/rest-api.md#readyz
  it('name the checks that fail', async () => {
    const readiness = new Readiness(20);
    let disk: string | undefined = 'disk is full';
    readiness.register('store', () => disk);
    readiness.register('projections', async () => undefined);
    readiness.register('broker', () => Promise.reject(new Error('connection refused')));
    readiness.register('hung', () => new Promise(() => undefined));
    const http = await start(readiness);
    const reply = await http.get('/readyz');
    expect([reply.status, reply.headers['retry-after'], reply.body]).toEqual([
      503,
      '1',
      {
        status: 'not_ready',
        checks: {
          store: 'disk is full',
          projections: 'ok',
          broker: 'connection refused',
          hung: 'no answer after 20 ms',
        },
      },
    ]);
    disk = undefined;
    expect(await readiness.report()).toMatchObject({ checks: { store: 'ok' } });
    expect(() => readiness.register('store', () => undefined)).toThrow('already registered');
  });

  // docs/reference/rest-api.md#server
  it('are part of what the server tells its users, and the checks only the operator', async () => {
    const readiness = new Readiness();
    readiness.register('broker', () => 'connect ECONNREFUSED 10.0.0.7:9092');
    readiness.register('store', () => undefined);
    const http = await start(readiness);
    expect((await http.get('/v1/server')).status).toBe(401);
    const asked = () => http.get('/v1/server').set('Authorization', 'Bearer test-key');
    expect((await asked().set('X-Forwarded-For', '127.0.0.1')).body).toEqual({ data: { ...SERVER, ready: false } });
    const checks = [
      { name: 'broker', ok: false, message: 'connect ECONNREFUSED 10.0.0.7:9092' },
      { name: 'store', ok: true, message: 'ok' },
    ];
    expect((await asked()).body).toEqual({ data: { ...SERVER, ready: false, checks } });
  });

  it('reveal only the status to clients behind a proxy', async () => {
    const readiness = new Readiness();
    readiness.register('broker', () => 'connect ECONNREFUSED 10.0.0.7:9092');
    const http = await start(readiness);
    const behind = { 'X-Forwarded-For': '127.0.0.1' };
    const ready = await http.get('/readyz').set(behind);
    expect([ready.status, ready.body]).toEqual([503, { status: 'not_ready' }]);
    expect((await http.get('/healthz').set(behind)).status).toBe(200);
    const metrics = await http.get('/metrics').set(behind);
    expect([metrics.status, metrics.body]).toMatchObject([403, { code: 'operator_only' }]);
    expect(metrics.headers['content-type']).toMatch(/^application\/json/);
    expect((await http.get('/metrics')).status).toBe(200);
  });

  // docs/reference/rest-api.md#healthz
  it('stay open while the process shuts down', async () => {
    const http = await start(new Readiness(), new Metrics(), { configure: { shuttingDown: () => true } });
    expect((await http.get('/healthz')).status).toBe(200);
    expect((await http.get('/v1/users/me')).status).toBe(503);
  });

  // docs/reference/rest-api.md#metrics
  it('report the counted values', async () => {
    const metrics = new Metrics();
    metrics.runner.runs('threw', 3);
    metrics.runner.emits(5);
    metrics.ingress.refused(429);
    metrics.webhooks.onAttempt('retry', 500, 120);
    let backlog: Record<string, number> = { 'emits.dc_1': 7 };
    metrics.sampled('sluice_backlog', 'Records not yet taken', () => backlog, 'topic');
    metrics.sampled('sluice_sandboxes', 'Sandbox processes', async () => 4);
    const http = await start(new Readiness(), metrics);

    const reply = await http.get('/metrics');
    expect(reply.headers['content-type']).toMatch(/^text\/plain; version=0.0.4/);
    for (const line of [
      'sluice_runs_total{status="threw"} 3',
      'sluice_emits_total 5',
      'sluice_ingress_requests_total{answer="429"} 1',
      'sluice_webhook_attempts_total{outcome="retry"} 1',
      'sluice_webhook_attempt_seconds_bucket{le="0.25",outcome="retry"} 1',
      'sluice_backlog{topic="emits.dc_1"} 7',
      'sluice_sandboxes 4',
    ]) {
      expect(reply.text.split('\n')).toContain(line);
    }
    expect(reply.text).toMatch(/^process_cpu_seconds_total/m);

    backlog = {};
    expect((await http.get('/metrics')).text).not.toContain('dc_1');
  });

  it('see each API request once, without its query', async () => {
    const seen: FinishedRequest[] = [];
    const { lines, logger } = logged();
    const metrics = new Metrics();
    const observe = httpObserver(logger('info'), metrics);
    const onFinished = (finished: FinishedRequest): void => {
      seen.push(finished);
      observe(finished);
    };
    const http = await start(new Readiness(), metrics, { configure: { onFinished } });
    await http.get('/v1/nothing?access_token=abc').set('Authorization', `Bearer ${TEST_KEY}`).set('X-Request-Id', 'r1');
    await http.get('/healthz');
    expect(seen).toMatchObject([
      { requestId: 'r1', method: 'GET', path: '/v1/nothing', status: 404, ms: expect.any(Number) },
      { path: '/healthz', status: 200 },
    ]);
    expect(lines).toMatchObject([{ level: 'info', msg: 'http.request', path: '/v1/nothing', status: 404 }]);
    expect(await metrics.text()).toContain('sluice_http_request_seconds_count{method="GET",status="404"} 1');
  });
});
