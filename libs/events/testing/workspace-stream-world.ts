import { type ServerResponse } from 'node:http';
import { afterEach } from '@jest/globals';
import { type Asked, EventStreams, unsentLimits, WorkspaceStream } from '#libs/event-streams/index.js';
import { InMemoryReadModels } from '#libs/kernel/testing/in-memory-read-models.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { StreamProjector } from '#libs/stream-log/stream-projector.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { DEFAULT_EVENT_SETTINGS, type EventSettings } from '../ports.js';
import { eventSummariesProjection } from '../read-models/event-summaries.projection.js';
import { RunSource } from '../source-runs/run-source.js';
import { KeptSummaries } from '../stream-workspace/kept-summaries.js';
import { SummarySource } from '../stream-workspace/summary-source.js';
import { T0, topics } from './emit-record.js';
import { FakeResponse, turns } from './stream-world.js';

interface Received {
  readonly event: string;
  readonly id?: string;
  readonly data: Record<string, unknown>;
}

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const blocksIn = (text: string): readonly Received[] =>
  text.split('\n\n').flatMap((block) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
    const [event, id, data] = [field('event'), field('id'), field('data')];
    if (event === undefined || data === undefined) return [];
    return [{ event, ...(id === undefined ? {} : { id }), data: JSON.parse(data) as Received['data'] }];
  });

/** Streams of workspaces over engines in memory. The clock stands still until a spec moves it. */
export const workspaceStreamWorld = async (given: Partial<EventSettings> = {}) => {
  const settings = { ...DEFAULT_EVENT_SETTINGS, ...given };
  const log = new InMemoryStreamLog();
  const readModels = new InMemoryReadModels();
  for (const emitter of ['dc_a', 'dc_b', 'dc_c']) await log.createTopic(topics.emits(emitter), {});
  const onFailure = (error: Error): void => {
    throw error;
  };
  const projection = eventSummariesProjection(settings);
  const projector = new StreamProjector({ projection, log, readModels, gatherMs: 1, onFailure });
  await projector.start();
  const streams = new EventStreams(log, {
    settings: { perUser: 9, unsent: unsentLimits() },
    mayRead: () => true,
    isPublic: () => false,
    exists: () => true,
    shuttingDown: () => false,
    onEnded: () => undefined,
  });
  closing.push(
    () => streams.onModuleDestroy(),
    () => projector.stop(),
  );
  const clock = { ms: T0 + 1_000_000 };
  const source = new SummarySource(log, topics, new KeptSummaries(readModels, settings));
  const runs = new RunSource(log, topics, readModels, settings);
  const open = async (asked: Partial<Omit<Asked, 'streams'>> & { streams?: string } = {}, cursor?: string) => {
    const { streams: names = 'events', ...rest } = asked;
    const streamsOf = new Set(names.split(','));
    const wanted: Asked = { workspaceId: 'o_1', eventName: '', whole: false, ...rest, streams: streamsOf };
    const shown = new WorkspaceStream(wanted, [source, runs], () => clock.ms);
    const response = new FakeResponse();
    const reader = { apiKeyId: 'key_1', userId: 'u_1', workspaceId: wanted.workspaceId };
    const stream = await streams.open(shown.options(), reader, response as unknown as ServerResponse);
    stream.open();
    if (cursor === undefined) stream.release();
    else await shown.resume(stream, streams, cursor);
    await turns();
    const received = (): readonly Received[] => blocksIn(response.text);
    return {
      response,
      received,
      ids: () =>
        received().map(({ event, data: { id, ...rest } }) =>
          typeof id === 'string' ? `${event} ${id}` : `${event} ${JSON.stringify(rest)}`,
        ),
    };
  };
  const publish = async (...records: LogRecord[]): Promise<void> => {
    const offsets = await log.publish(records);
    for (const [i, { topic }] of records.entries()) await projector.waitApplied(topic, offsets[i] ?? 0, 5_000);
    await turns();
  };
  return { clock, log, open, publish };
};
