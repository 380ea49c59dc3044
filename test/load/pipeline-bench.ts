/**
 * The data plane alone, in one process without the API: endpoint, runner, jail, router, webhook worker on the embedded
 * engine, with a sink and a closed-loop load in the same process. For profiles (`node --cpu-prof`), not for figures.
 */
import { createServer, type Server } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AddressInfo } from 'node:net';
import { randomBytes } from 'node:crypto';
import { Pool } from 'undici';
import { createEgress } from '#libs/egress/guarded-dispatcher.js';
import { openEmbedded } from '#libs/engines/embedded/index.js';
import { startWebhookWorker } from '#libs/delivery/webhook-worker.js';
import { Ingress } from '#libs/ingress/ingress.js';
import { PressureGate } from '#libs/ingress/pressure-gate.js';
import { RateLimit } from '#libs/ingress/rate-limit.js';
import { ResponseRelay } from '#libs/ingress/response-relay.js';
import { systemClock } from '#libs/kernel/clock.js';
import { type RecordedEvent } from '#libs/kernel/events.js';
import { SubscriptionTable } from '#libs/routing/subscription-table.js';
import { startRouter } from '#libs/routing/router.js';
import { bundleComponent } from '#libs/runtime/bundler.js';
import { detectIsolation } from '#libs/runtime/jail/detect.js';
import { createSandboxFactory } from '#libs/runtime/process-sandbox.js';
import { startRunner } from '#libs/runtime/runner.js';
import { type Sandbox } from '#libs/runtime/sandbox.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';

const CODE = `export default { name: 'x', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event.body); } }`;
const quiet = { info: () => undefined, warn: console.error, error: console.error };
const seconds = Number(process.argv[2] ?? 10);
const connections = Number(process.argv[3] ?? 64);

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

const recorded = (stream: string, type: string, data: object): RecordedEvent =>
  ({
    stream,
    type,
    data,
    metadata: { workspaceId: 'o_1' },
    id: 'e',
    revision: 0n,
    position: '1',
    recordedAt: 1,
  }) as unknown as RecordedEvent;

const main = async (): Promise<void> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'sluice-pipeline-'));
  const engines = await openEmbedded({
    dataDir,
    secretKey: randomBytes(32),
    clock: systemClock,
    onFatal: console.error,
  });
  const topics = perEmitterTopics({ emitsAgeMs: 86_400_000, emitsBytes: 256 << 20 });
  for (const owned of [...topics.fixed(), ...topics.ownedBy('dc_1'), ...topics.ownedBy('wh_1')]) {
    await engines.log.createTopic(owned.topic, owned.retention);
  }
  const bundleHash = await engines.blobs.put((await bundleComponent({ code: CODE })).bundle);
  const level = await detectIsolation('auto');
  console.log(`isolation: ${level.name}`);
  const factory = createSandboxFactory({ level });
  let sandbox: Promise<Sandbox> | undefined;
  const definition = {
    componentId: 'sc_1',
    componentKey: null,
    bundleHash,
    values: {},
    endpoints: [],
    timers: [],
    dbProps: [],
    appProps: [],
    hooks: [],
    dedupe: null,
    emitOnDeploy: true,
  };
  const relay = new ResponseRelay();
  const runner = await startRunner({
    log: engines.log,
    topics,
    journal: engines.journal,
    blobs: engines.blobs,
    sources: { find: () => ({ workspaceId: 'o_1', definition }) },
    sandboxes: {
      acquire: (_id, spec) => (sandbox ??= spec().then((made) => factory.start(made))),
      drop: async () => {
        await (await sandbox)?.stop();
        sandbox = undefined;
      },
    },
    binder: { bind: async () => ({ http: { kind: 'http', endpoint: 'http://x' } }) },
    replies: relay,
    settings: { concurrency: 10, httpTimeoutMs: 30_000, timerTimeoutMs: 60_000, hookTimeoutMs: 60_000, window: 64 },
    clock: systemClock,
    metrics: {
      run: () => undefined,
      emits: () => undefined,
      duplicates: () => undefined,
      platformFailure: () => undefined,
    },
    logger: quiet,
    onFatal: console.error,
  });
  const table = new SubscriptionTable();
  table.apply(
    recorded('subscription-sub_1', 'SubscriptionCreated', {
      subscriptionId: 'sub_1',
      userId: 'u_1',
      emitterId: 'dc_1',
      listenerId: 'wh_1',
      eventName: '',
      createdAt: 1,
    }),
  );
  const router = await startRouter({ log: engines.log, topics, table, clock: systemClock });

  let delivered = 0;
  const latencies: number[] = [];
  const sink = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      res.end();
      delivered++;
      latencies.push(Date.now() - (JSON.parse(Buffer.concat(chunks).toString()) as { at: number }).at);
    });
  });
  const url = `http://127.0.0.1:${await listen(sink)}/`;
  const target = {
    id: 'wh_1',
    workspaceId: 'o_1',
    url,
    active: true,
    timeoutMs: 5_000,
    signingKeys: () => [`whsec_${randomBytes(32).toString('base64')}`],
  };
  const egress = createEgress({ allow: ['127.0.0.1/32'] });
  const worker = await startWebhookWorker({
    log: engines.log,
    topics,
    schedule: engines.schedule,
    directory: { find: () => target },
    dispatcher: egress.dispatcher,
    clock: systemClock,
    onDisable: () => undefined,
    logger: quiet,
  });

  const gate = new PressureGate(
    () => runner.backlog() + router.backlog() + worker.pressure(),
    512,
    1_000,
    2_000,
    Date.now,
  );
  const ingress = new Ingress({
    endpoint: () => ({ sourceId: 'dc_1', workspaceId: 'o_1', prop: 'http', customResponse: false }),
    log: engines.log,
    topics,
    relay,
    gate,
    rate: new RateLimit(0, 0),
    domain: null,
    maxBodyBytes: 512 * 1024,
    replyTimeoutMs: 31_000,
    clock: systemClock,
    metrics: { accepted: () => undefined, refused: () => undefined },
    logger: quiet,
  });
  const server = createServer((req, res) => void ingress.handle(req, res));
  const port = await listen(server);
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections });
  const filler = 'x'.repeat(950);
  let accepted = 0;
  let refused = 0;
  const until = Date.now() + seconds * 1_000;
  const cpu = process.cpuUsage();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (Date.now() < until) {
        const body = JSON.stringify({ id: accepted, at: Date.now(), filler });
        const answer = await pool.request({
          path: '/h/e1',
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        });
        await answer.body.dump();
        if (answer.statusCode === 200) accepted++;
        else refused++;
      }
    }),
  );
  const atEnd = delivered;
  while (delivered < accepted) await new Promise((resolve) => setTimeout(resolve, 20));
  const used = process.cpuUsage(cpu);
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? 0;
  console.log({
    accepted,
    refused,
    delivered,
    deliveredPerSecond: Math.round(atEnd / seconds),
    cpuUsPerEvent: Math.round((used.user + used.system) / accepted),
    p50: at(0.5),
    p99: at(0.99),
    rssMb: Math.round(process.memoryUsage().rss / 1e6),
    stats: engines.stats(),
  });
  await pool.close();
  server.close();
  await runner.close();
  await router.close();
  await worker.close();
  await egress.close();
  await factory.close();
  sink.closeAllConnections();
  sink.close();
  await engines.close();
  await rm(dataDir, { recursive: true });
};

await main();
