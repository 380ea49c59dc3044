import { readFile } from 'node:fs/promises';
import { type Source } from '#test/harness/api-client.js';
import { FeedServer } from '#test/harness/feed-server.js';
import { example } from '#test/harness/paths.js';
import { eventually } from '#test/harness/wait.js';
import { type Stage } from './github-part.js';

export interface FeedFigures {
  /** Items in the feed at the end. */
  readonly published: number;
  readonly polls: number;
  /** Number of polls that the feed server answered 304. */
  readonly notModified: number;
  /** Number of items read in all polls together. */
  readonly read: number;
  readonly emitted: number;
  readonly deduped: number;
  readonly delivered: number;
  readonly lost: number;
  readonly duplicates: number;
  /** Number of deliveries of one poll that did not arrive oldest first. */
  readonly disordered: number;
}

export interface FeedOptions {
  /** Also wait for a tick of the real timer, whose shortest interval is 15 s. */
  readonly awaitTick: boolean;
}

const INTERVAL_SECONDS = 15;
const TICK_TIMEOUT_MS = (INTERVAL_SECONDS + 15) * 1000;

/** Deploys the feed source on a saved feed that grows between the polls. */
export const runFeedPart = async (stage: Stage, { awaitTick }: FeedOptions): Promise<FeedFigures> => {
  const feed = await FeedServer.start(await readFile(example('feeds', 'releases.atom'), 'utf8'));
  try {
    return await pollGrowingFeed(stage, feed, awaitTick);
  } finally {
    await feed.close();
  }
};

const pollGrowingFeed = async (
  { api, receiver }: Stage,
  feed: FeedServer,
  awaitTick: boolean,
): Promise<FeedFigures> => {
  // 1. A webhook and a source, which polls once on its own as soon as it is deployed.
  const webhook = await api.createWebhook(receiver.url, 'Feed items');
  receiver.trust(webhook.signing_key);
  const first = Math.ceil(feed.total / 2);
  feed.publish(0);
  const source = await api.createSource({
    component_code: await readFile(example('feed', 'component.mjs'), 'utf8'),
    configured_props: { url: feed.url, timer: { intervalSeconds: INTERVAL_SECONDS } },
  });
  await api.subscribe(source.id, webhook.id);
  const arrived = (): readonly string[] =>
    receiver.accepted.filter(({ emitterId }) => emitterId === source.id).map(({ webhookId }) => webhookId);
  const until = (count: number, timeoutMs: number): Promise<void> =>
    receiver.until(`${count} feed items`, () => new Set(arrived()).size >= count, timeoutMs);

  // 2. Publish half of the feed, then more, then nothing new, then the rest.
  const poll = async (published: number): Promise<void> => {
    feed.publish(published);
    await api.runNow(source.id);
    await until(published, 20_000);
  };
  await poll(first);
  await poll(first + 3);
  await poll(first + 3);
  feed.publish(feed.total);
  if (awaitTick) await until(feed.total, TICK_TIMEOUT_MS);
  else await poll(feed.total);

  // 3. Delete the source first, so that no later tick changes the counts.
  const emitted = await historySize(api, source, new Set(arrived()).size);
  await api.deleteSource(source.id);
  const delivered = new Set(arrived()).size;
  return {
    published: feed.total,
    polls: feed.requests,
    notModified: feed.notModified,
    read: feed.itemsServed,
    emitted,
    deduped: feed.itemsServed - emitted,
    delivered,
    lost: emitted - delivered,
    duplicates: arrived().length - delivered,
    disordered: disorderedOf(receiver, source),
  };
};

/** The history is written in parallel to the deliveries, so it may lag a moment. */
const historySize = async (api: Stage['api'], source: Source, expected: number): Promise<number> => {
  let size = 0;
  await eventually(`${expected} items in the history`, async () => {
    const { data } = await api.summaries(source.id);
    size = new Set(data.map(({ metadata }) => metadata.id)).size;
    return size >= expected ? size : undefined;
  });
  return size;
};

/** The feed only gains newer items, so the deliveries of all polls together are oldest first. */
const disorderedOf = (receiver: Stage['receiver'], source: Source): number => {
  const times = receiver.accepted
    .filter(({ emitterId }) => emitterId === source.id)
    .map(({ body }) => Date.parse((body as { published: string }).published));
  return times.filter((time, index) => index > 0 && time < (times[index - 1] ?? 0)).length;
};
