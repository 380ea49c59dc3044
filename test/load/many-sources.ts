import { request } from 'undici';
import { endpointOf, type Source } from '#test/harness/api-client.js';
import { eventually } from '#test/harness/wait.js';
import { type PartProcess } from './part-process.js';
import { BODY_BYTES, type SinkApi } from './parts.js';
import { monotonicUs } from './monotonic.js';
import { totalOf, usageOf } from './part-usage.js';
import { treePssMb, type TreeUsage } from './process-tree.js';
import { RELAY_COMPONENT, type Installation } from './targets.js';

export interface ManySourcesFigures {
  readonly sources: number;
  readonly seconds: number;
  readonly msEach: number;
  readonly slowestMs: number;
  readonly before: TreeUsage;
  readonly after: TreeUsage;
  /** One event posted to every source, and the events that arrived at the sink. */
  readonly delivered: number;
  readonly afterEvents: TreeUsage;
  readonly afterEventsPssMb: number;
  /** Start of the server on the data of all these sources. */
  readonly restartMs: number;
}

const PARALLEL = 4;
/** A run number that `measure` does not use. */
const RUN = 1_000_000;

/** Deploys many sources of one component, each with its own webhook. Then posts one event to each. */
export const measureManySources = async (
  sink: PartProcess<SinkApi>,
  installation: Installation,
  count: number,
): Promise<ManySourcesFigures> => {
  try {
    return await deployAndPost(installation, sink, count);
  } finally {
    await installation.close();
  }
};

const deployAndPost = async (
  { server, api, parts, restart }: Installation,
  sink: PartProcess<SinkApi>,
  count: number,
): Promise<ManySourcesFigures> => {
  const usage = (): TreeUsage => totalOf(usageOf(parts()));
  const component = await api.createComponent(RELAY_COMPONENT);
  const webhook = await api.createWebhook(sink.url);
  const before = usage();
  const sources: Source[] = [];
  const startedAt = performance.now();
  let slowestMs = 0;
  await inParallel(count, async () => {
    const began = performance.now();
    const source = await api.createSource({ component_id: component.id });
    await api.subscribe(source.id, webhook.id);
    slowestMs = Math.max(slowestMs, performance.now() - began);
    sources.push(source);
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const after = usage();

  await sink.call('begin', { run: RUN });
  await inParallel(count, async (id) => {
    const body = JSON.stringify({ run: RUN, id, w: 0, t: monotonicUs(), pad: 'x'.repeat(BODY_BYTES - 80) });
    const url = endpointOf(server, sources[id] as Source);
    const reply = await request(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    await reply.body.dump();
    if (reply.statusCode !== 200) throw new Error(`${url} answered ${reply.statusCode}`);
  });
  const arrived = async (): Promise<number> => sink.call('count', undefined);
  await eventually(`${count} events at the sink`, async () => ((await arrived()) >= count ? true : undefined), 120_000);
  const delivered = await arrived();
  const afterEvents = usage();
  const afterEventsPssMb = parts().reduce((sum, { pid }) => sum + treePssMb(pid), 0);
  const restartMs = await restart();
  return {
    sources: count,
    seconds,
    msEach: (seconds * 1000) / count,
    slowestMs,
    before,
    after,
    delivered,
    afterEvents,
    afterEventsPssMb,
    restartMs,
  };
};

export const inParallel = async (
  count: number,
  work: (index: number) => Promise<void>,
  atOnce = PARALLEL,
): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
};
