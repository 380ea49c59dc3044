import { delayedAlarm } from '#libs/routing/delayed-alarm.js';
import { type DelayedEvent } from '#libs/stream-log/delayed-events.js';
import { join } from 'node:path';
import { type Config, loadConfig } from '#libs/config/index.js';
import { type DomainEvent, type NewEvent } from '#libs/kernel/events.js';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { definition, deploymentStarted } from '#libs/sources/testing/definitions.js';
import { MESSAGE_GROUP } from '#libs/delivery/message-worker.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { DEFAULT_RULES } from '#libs/webhooks/published.js';
import { type PartName, PARTS } from '../archive-format.js';
import { ArchiveReader } from '../archive-reader.js';
import { exportInstallation, type MovedEngines } from '../export-installation.js';
import { headOf } from '#libs/runner/lane-state.js';
import { partsOf } from '#libs/runner/source/source-state.js';
import { runIdOf } from '#libs/stream-log/invocations.js';
import { type RunChange } from '#libs/workflow-runs/run-change.js';
import { initialRun } from '#libs/workflow-runs/run-state.js';
import { DB_CHANGES, headText } from '#libs/workflow-runs/stored-run.js';
import { changesOf } from '#libs/workflow-runs/testing/run-changes.js';
import { start, succeed } from '#libs/workflow-runs/testing/run-samples.js';
import { importInstallation, type Imported, sealOf } from '../import-installation.js';

export const KEY = Buffer.alloc(32, 7);
export const perEmitter = loadConfig({});
export const shared = loadConfig({ SLUICE_TOPICS: 'shared', SLUICE_TOPIC_PARTITIONS: '3' });

const stopped = (): Promise<void> => Promise.resolve();
const silent = (): void => undefined;
/** Ends the import when an engine fails. In these specs a failure stands for a power cut, without retries. */
const cut = (_name: string, error: Error): void => {
  throw error;
};

export const exportTo = (engines: MovedEngines, folder: string) =>
  exportInstallation({
    engines,
    folder,
    secretKey: KEY,
    now: 1_800_000_000_000,
    assertStopped: stopped,
    onProgress: silent,
  });

export const importFrom = async (folder: string, engines: MovedEngines, config: Config): Promise<Imported> => {
  const archive = await ArchiveReader.open(folder, silent);
  return importInstallation({
    engines,
    config,
    archive,
    secretKey: KEY,
    assertStopped: stopped,
    onProgress: silent,
    onRetry: cut,
  });
};

/** Reads an archive and opens its secrets. The result is equal for two archives of the same installation. */
export const contentsOf = async (folder: string) => {
  const archive = await ArchiveReader.open(folder, silent);
  const seal = sealOf(archive.manifest, KEY);
  const others = PARTS.filter((part) => part !== 'secrets' && part !== 'events');
  return {
    ...Object.fromEntries(
      await Promise.all(
        others.map(async (part): Promise<[PartName, unknown]> => [part, await all(archive.lines(part))]),
      ),
    ),
    secrets: (await all(archive.lines('secrets'))).map(({ ref, workspaceId, sealed }) => {
      return [ref, workspaceId, seal.open(ref, workspaceId, sealed)];
    }),
    events: (await all(archive.lines('events'))).map(({ metadata, ...event }) => {
      const { $recordedAt, ...rest } = metadata;
      return { ...event, metadata: rest, at: $recordedAt ?? event.recordedAt };
    }),
    invocations: await all(archive.lines('invocations')),
  };
};

/** Exports the engines' data to a new archive in `folder` and reads its contents. */
export const contentsIn = async (engines: MovedEngines, folder: string) => {
  await exportTo(engines, join(folder, 'again'));
  return contentsOf(join(folder, 'again'));
};

export const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
};

const deployedAt = { type: 'SourceDeployed', data: { deployedAt: 2_000 } };
const deleted = [
  { type: 'SourceDeletionStarted', data: { startedAt: 3_000 } },
  { type: 'SourceDeleted', data: { deletedAt: 3_000 } },
];
const webhookCreated = {
  type: 'WebhookCreated',
  data: {
    userId: 'u_1',
    name: null,
    description: null,
    url: 'https://example.com/',
    signingKeyRef: 'sec_1',
    rules: DEFAULT_RULES,
    createdAt: 1,
  },
};

const workflowCreated = {
  type: 'WorkflowCreated',
  data: {
    workflowId: 'p_1',
    userId: 'u_1',
    name: 'Orders',
    description: null,
    externalId: null,
    managedBy: null,
    active: true,
    createdAt: 1,
  },
};

export const ENDED_RUN = 'run_1';
const QUEUED_BY = 'inv_queued';
export const QUEUED_RUN = runIdOf(QUEUED_BY);

/** The only change of a run that waits for its first start. */
export const queuedRun = (): RunChange => {
  const [arrived] = changesOf({ id: QUEUED_RUN, arrivedAt: 5_000 });
  if (!arrived) throw new Error('a run begins with a change');
  return arrived;
};

/** A workflow with a run that has ended, and one that the history does not have yet. */
const addRuns = async ({ log, journal, runHistory }: MovedEngines): Promise<void> => {
  const topics = perEmitterTopics({ emitsAgeMs: 1e12, emitsBytes: 1e9 });
  for (const { topic, retention } of topics.ownedBy('p_1')) await log.createTopic(topic, retention);
  await runHistory.apply(changesOf({ id: ENDED_RUN }, start(1_001), succeed(1_002, 1), succeed(1_003, 2)));
  const run = queuedRun();
  const executable = 'p_1';
  await log.publish([
    record(topics.invocations('p_1'), 'p_1', { id: QUEUED_BY, kind: 'http', source: 'p_1' }, {}),
    record(topics.runs('p_1'), 'p_1', {}, run),
  ]);
  const messages = ['snd_1', 'snd_2'].map((id) => record(topics.messages('p_1'), 'p_1', { id }, { of: id }));
  const [sent] = await log.publish(messages);
  await log.setCommitted(MESSAGE_GROUP, { 'messages.p_1': sent ?? -1 });
  const head = headText({ head: run.head, parts: {} });
  const parts = run.parts;
  await journal.commit({ executable, run: QUEUED_RUN, expectedVersion: 0, head, parts, inbox: [], records: [] });
  await addStepDb(journal, executable);
};

/** The db of a step, which lacks what the run that changed it stored before a crash. */
const addStepDb = async (journal: MovedEngines['journal'], executable: string): Promise<void> => {
  const commit = { executable, expectedVersion: 0, inbox: [], records: [] };
  const progress = { through: -1, above: [] };
  await journal.commit({ ...commit, head: headOf({ progress, lastEventId: '' }), parts: {} });
  await journal.commit({ ...commit, run: 'c_1', head: '{}', parts: { 'db/n': '1' } });
  const head = headText(initialRun, { step: 'c_1', version: 2 });
  await journal.commit({ ...commit, run: 'run_crashed', head, parts: { [DB_CHANGES]: '{"n":"2"}' } });
};

const event = (stream: string, revision: number, what: DomainEvent): NewEvent => {
  const { id, type, data, metadata } = recorded(stream, what, { revision });
  return { id, type, data, metadata };
};

const record = (topic: string, key: string, headers: Record<string, string>, value: unknown): LogRecord => ({
  topic,
  key,
  headers,
  value: JSON.stringify(value),
});

const appendHistory = async (events: MovedEngines['events']): Promise<void> => {
  const append = async (id: string, ...facts: DomainEvent[]): Promise<void> => {
    for (const [n, fact] of facts.entries()) {
      await events.append(id, [event(id, n, fact)], n === 0 ? 'no_stream' : BigInt(n - 1));
    }
  };
  const started = (sourceId: string): DomainEvent => deploymentStarted({ sourceId, definition: definition() });
  await append('source-dc_a', started('dc_a'), deployedAt);
  await append('source-dc_gone', started('dc_gone'), deployedAt, ...deleted);
  await append('source-dc_b', started('dc_b'), deployedAt);
  await append('workflow-p_1', workflowCreated);
  await append('webhook-wh_a', { ...webhookCreated, data: { ...webhookCreated.data, webhookId: 'wh_a' } });
};

/** An event of `dc_b` that waits. */
export const DELAYED: DelayedEvent = {
  sourceId: 'dc_b',
  workspaceId: 'o_1',
  eventId: '4-1',
  emitId: 'e4',
  channel: 'later',
  dueAt: 99_000,
  hops: 2,
  dedupe: '7',
  payload: '{"waits":"\u2028ü"}',
};

const STATE = {
  executable: 'dc_a',
  expectedVersion: 0,
  inbox: ['inv_x', 'inv_y'],
  records: [],
  parts: partsOf({
    dedupe: { '': { strategy: 'unique', ids: ['1', '2'] } },
    db: { count: '4', text: '"\\u2028"' },
  }),
};

/**
 * Fills the engines with two live sources, a live webhook and a deleted source. Of five emits, two are unrouted. The
 * third run of `dc_a` and one delivery are unfinished; another delivery waits for its next attempt.
 */
export const fill = async (engines: MovedEngines): Promise<void> => {
  const { events, log, journal, due, delayed, ticks, vault, blobs, records } = engines;
  const topics = perEmitterTopics({ emitsAgeMs: 1e12, emitsBytes: 1e9 });

  await appendHistory(events);
  await addRuns(engines);
  for (const id of ['dc_a', 'dc_b', 'wh_a', 'attempts']) {
    const owned = id === 'attempts' ? topics.fixed() : topics.ownedBy(id);
    for (const { topic, retention } of owned) await log.createTopic(topic, retention);
  }
  const emit = (source: string, n: number, value: unknown): LogRecord =>
    record(
      topics.emits(source),
      source,
      { kind: 'emit', id: `${n}-0`, emitter: source, workspace: 'o_1', channel: '', emit: `e${n}` },
      value,
    );
  const emits = await log.publish([
    emit('dc_a', 1, 'one'),
    emit('dc_b', 2, 'line\u2028separator'),
    emit('dc_a', 3, 'ünïcode'),
    emit('dc_a', 4, { unrouted: true }),
    emit('dc_b', 5, 'unrouted too'),
  ]);
  await log.setCommitted('router', { 'emits.dc_a': emits[2] ?? -1, 'emits.dc_b': emits[1] ?? -1 });
  const invocation = (id: string, kind: string): LogRecord =>
    record(topics.invocations('dc_a'), 'dc_a', { id, kind, source: 'dc_a' }, { of: id });
  const invocations = await log.publish([
    invocation('inv_1', 'http'),
    invocation('inv_2', 'http'),
    invocation('inv_3', 'http'),
    invocation('inv_4', 'http'),
    invocation('inv_5', 'hook'),
    invocation('inv_6', 'settled'),
  ]);
  await log.setCommitted('runner', { 'invocations.dc_a': invocations[0] ?? -1 });
  const delivery = (id: string): LogRecord =>
    record(topics.deliveries('wh_a'), 'wh_a', { id, webhook: 'wh_a' }, { id });
  const deliveries = await log.publish([delivery('dlv_1'), delivery('dlv_2')]);
  await log.setCommitted('webhook-worker', { 'deliveries.wh_a': deliveries[0] ?? -1 });
  const value = { ts: 5, ms: 1, status: 503, error: 'status 503', nextAttemptAt: 9, responseSnippet: '' };
  const attempt = { id: 'dlv_3/1', delivery: 'dlv_3', webhook: 'wh_a', attempt: '1', outcome: 'retry' };
  await log.publish([record('attempts', 'wh_a', attempt, value)]);

  // The second and the fourth run have ended; the lane's committed offset is that of the first.
  const progress = { through: invocations[1] ?? -1, above: [invocations[3] ?? -1] };
  await journal.commit({ ...STATE, head: headOf({ progress, lastEventId: '4-0' }) });
  await ticks.save(new Map([['dc_b/timer', 1_234]]));
  const kept = { storeId: 'ds_a', workspaceId: 'o_1', key: 'k/ü', value: '{"n":1}', expiresAt: 9e12 };
  await records.set(kept, 0);
  await due.put([{ id: 'dlv_3/2.0', owner: 'wh_a', kind: 'delivery', dueAt: 99_000, record: delivery('dlv_3') }]);
  await delayed.put([DELAYED]);
  await due.put([delayedAlarm(DELAYED)]);
  await vault.put('sec_1', 'o_1', 'whsec_plain-text-secret');
  await blobs.put('export default {};');
};
