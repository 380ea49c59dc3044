import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { cpuUsSince, newHistogram, quantilesMs } from './latencies.js';
import { monotonicUs } from './monotonic.js';
import { servePart } from './part-process.js';
import { type LoadBody, type SinkApi, type SinkReport } from './parts.js';

/** Receives the events: answers 200 at once and records the figures of one run. */
const BIN_US = 100_000;

let run = -1;
let times = new Uint8Array(1 << 16);
let distinct = 0;
let repeats = 0;
let bins = new Map<number, number>();
let latency = newHistogram();
let firstThird = newHistogram();
let lastThird = newHistogram();
let cpuStart = process.cpuUsage();

const begin = (options: { run: number }): void => {
  run = options.run;
  times = new Uint8Array(1 << 16);
  distinct = 0;
  repeats = 0;
  bins = new Map();
  latency = newHistogram();
  firstThird = newHistogram();
  lastThird = newHistogram();
  cpuStart = process.cpuUsage();
};

const take = (body: LoadBody): void => {
  if (body.run !== run) return;
  const now = monotonicUs();
  if (body.id >= times.length) {
    const larger = new Uint8Array(Math.max(times.length * 2, body.id + 1));
    larger.set(times);
    times = larger;
  }
  const before = times[body.id] ?? 0;
  times[body.id] = Math.min(before + 1, 255);
  if (before > 0) {
    repeats++;
    return;
  }
  distinct++;
  const bin = Math.floor(now / BIN_US);
  bins.set(bin, (bins.get(bin) ?? 0) + 1);
  if (body.w === 0) return;
  const us = Math.max(1, Math.round(now - body.t));
  latency.recordValue(us);
  if (body.w === 1) firstThird.recordValue(us);
  else if (body.w === 3) lastThird.recordValue(us);
};

const report = ({ total, from, to }: { total: number; from: number; to: number }): SinkReport => {
  const first = Math.ceil(from / BIN_US);
  const end = Math.floor(to / BIN_US);
  let inWindow = 0;
  for (let bin = first; bin < end; bin++) inWindow += bins.get(bin) ?? 0;
  const missing: number[] = [];
  for (let id = 0; id < total; id++) if ((times[id] ?? 0) === 0) missing.push(id);
  return {
    distinct,
    duplicates: repeats,
    perSecond: inWindow / (((end - first) * BIN_US) / 1_000_000),
    endToEndMs: quantilesMs(latency),
    firstThirdMs: quantilesMs(firstThird),
    lastThirdMs: quantilesMs(lastThird),
    missing,
    cpuUs: cpuUsSince(cpuStart),
  };
};

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    take(JSON.parse(Buffer.concat(chunks).toString()) as LoadBody);
    response.writeHead(200, { 'content-length': '0' }).end();
  });
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const api: SinkApi = { begin, count: () => distinct, report };
servePart({ ...api }, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
