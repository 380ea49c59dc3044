import { afterEach } from '@jest/globals';
import request from 'supertest';
import { noStreams } from '#libs/event-streams/testing/no-streams.js';
import { httpTestApp } from '#libs/http/testing/http-test-app.js';
import { itemsOf } from '#libs/http/testing/replies.js';
import { InMemoryReadModels } from '#libs/kernel/testing/in-memory-read-models.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { StreamProjector } from '#libs/stream-log/stream-projector.js';
import { InMemoryDelayedEvents } from '#libs/stream-log/testing/in-memory-delayed-events.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import {
  DEFAULT_EVENT_SETTINGS,
  type EventSettings,
  eventSummariesProjection,
  EventsModule,
  type RunsUnderWay,
} from '../index.js';
import { T0, topics } from './emit-record.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** The API of events over engines in memory. `slug-a` is the slug of `dc_a`. Closes itself after the test. */
export const eventsWorld = async (retained = 100, given: Partial<EventSettings> = {}, runsUnderWay?: RunsUnderWay) => {
  const settings = { ...DEFAULT_EVENT_SETTINGS, retained, ...given };
  const log = new InMemoryStreamLog();
  const readModels = new InMemoryReadModels();
  const delayed = new InMemoryDelayedEvents();
  for (const source of ['dc_a', 'dc_b']) await log.createTopic(topics.emits(source), {});
  const failures: Error[] = [];
  const projection = eventSummariesProjection(settings);
  const summaries = new StreamProjector({
    projection,
    log,
    readModels,
    gatherMs: 1,
    onFailure: (error) => void failures.push(error),
  });
  await summaries.start();
  const sources = new Map([
    ['dc_a', { workspaceId: 'o_1' }],
    ['dc_b', { workspaceId: 'o_1' }],
    ['dc_other', { workspaceId: 'o_2' }],
  ]);
  const app = await httpTestApp({
    imports: [
      EventsModule.forRoot({
        readModels,
        clock: { now: () => T0 + 1_000_000 },
        log,
        topics,
        delayed,
        emitters: {
          find: (source: string) => sources.get(source),
          idOfSlug: (workspaceId: string, slug: string) =>
            workspaceId === 'o_1' && slug === 'slug-a' ? 'dc_a' : undefined,
          idOfExternal: () => undefined,
        },
        appliedEvents: summaries,
        settings,
        eventStreams: noStreams(log),
        otherStreams: [],
        runsUnderWay,
      }),
    ],
  });
  closing.push(
    () => app.close(),
    () => summaries.stop(),
  );
  const call = (method: 'get' | 'delete', path: string) =>
    request(app.getHttpServer())[method](path).set('Authorization', 'Bearer test-key');
  const emitted = async (...records: LogRecord[]): Promise<void> => {
    const offsets = await log.publish(records);
    for (const [i, { topic }] of records.entries()) await summaries.waitApplied(topic, offsets[i] ?? 0, 5_000);
  };
  const idsOf = async (path: string): Promise<unknown[]> => itemsOf(await call('get', path)).map((item) => item['id']);
  return { log, readModels, delayed, failures, summaries, call, emitted, idsOf };
};
export const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);
