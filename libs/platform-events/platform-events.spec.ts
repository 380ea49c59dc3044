import { describe, expect, it } from '@jest/globals';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { type PlatformEvent, PlatformEvents } from './platform-events.js';
import { PlatformEventsReactor } from './platform-events.reactor.js';

const NOON = Date.UTC(2026, 0, 1, 12);

const world = () => {
  const log = new InMemoryStreamLog();
  const t = { now: NOON, failure: undefined as Error | undefined, errors: [] as object[], lines: [] as string[] };
  const make = (): PlatformEvents =>
    new PlatformEvents({
      log: {
        createTopic: (topic, retention) => log.createTopic(topic, retention),
        publish: (records) => (t.failure ? Promise.reject(t.failure) : log.publish(records)),
      },
      topics: perEmitterTopics({ emitsAgeMs: 1e12, emitsBytes: 1e9 }),
      clock: { now: () => t.now },
      logger: { warn: (_, text) => void t.lines.push(text), error: (fields) => void t.errors.push(fields) },
    });
  const events = make();
  const told = async () => {
    await events.idle();
    return log.read('emits.o_1', -1, 100);
  };
  return { t, log, make, events, told };
};

const about = (subject: string, over: Partial<PlatformEvent> = {}): PlatformEvent => ({
  kind: 'webhook_unhealthy',
  workspaceId: 'o_1',
  subject,
  message: `webhook ${subject} fails`,
  ...over,
});

describe('events of the platform', () => {
  it('are emitted by the workspace on $platform, and logged', async () => {
    const { events, told, t } = world();
    events.report(about('wh_1'));
    const [record] = await told();
    expect(record).toMatchObject({
      key: 'o_1',
      headers: { kind: 'emit', emitter: 'o_1', workspace: 'o_1', channel: '$platform', hops: '0', subject: 'wh_1' },
    });
    expect(record?.headers['id']).toMatch(new RegExp(`^${NOON}-\\d+$`));
    expect(JSON.parse(record?.value ?? '')).toEqual({
      kind: 'webhook_unhealthy',
      subject: 'wh_1',
      message: 'webhook wh_1 fails',
      ts: '2026-01-01T12:00:00.000Z',
    });
    expect(t.lines).toEqual(['platform_event: webhook wh_1 fails']);
  });

  // docs/reference/rest-api.md#platform-events-once
  it('tell one thing about one subject once in ten minutes', async () => {
    const { events, told, t } = world();
    for (let n = 0; n < 100; n++) events.report(about('wh_1'));
    events.report(about('wh_2'));
    events.report(about('wh_1', { kind: 'webhook_recovered' }));
    expect(await told()).toHaveLength(3);
    t.now += 600_000;
    events.report(about('wh_1'));
    expect(await told()).toHaveLength(4);
  });

  // docs/reference/rest-api.md#platform-events-once
  it('have one emit id in every process that tells the same', async () => {
    const { events, make, told, t } = world();
    const other = make();
    events.report(about('wh_1'));
    await events.idle();
    t.now += 1_000;
    other.report(about('wh_1'));
    await other.idle();
    const records = await told();
    expect(new Set(records.map(({ headers }) => headers['emit'])).size).toBe(1);
    expect(new Set(records.map(({ headers }) => headers['id'])).size).toBe(2);
  });

  it('that cannot be stored are logged, and told at the next occasion', async () => {
    const { events, told, t } = world();
    t.failure = new Error('disk is full');
    events.report(about('wh_1'));
    await events.idle();
    expect(t.errors).toEqual([expect.objectContaining({ err: t.failure, subject: 'wh_1' })]);
    t.failure = undefined;
    events.report(about('wh_1'));
    expect(await told()).toHaveLength(1);
  });
});

describe('what the event log says', () => {
  const reactor = () => {
    const { events, told } = world();
    const reacts = new PlatformEventsReactor({ events, clock: { now: () => NOON } });
    const handle = (stream: string, type: string, data: object): Promise<void> =>
      reacts.handle(recorded(stream, { type, data }, { metadata: { workspaceId: 'o_1' } }));
    return { handle, told };
  };

  it('is told once, also when it is handled twice', async () => {
    const { handle, told } = reactor();
    await handle('webhook-wh_1', 'WebhookDisabled', { reason: 'status 410', disabledAt: NOON });
    await handle('account-apn_1', 'AccountRefreshFailed', { reason: 'revoked', failedAt: NOON, retryAt: null });
    expect((await told()).map(({ value }) => JSON.parse(value) as object)).toMatchObject([
      { kind: 'webhook_disabled', subject: 'wh_1', message: 'webhook wh_1 was disabled: status 410' },
      { kind: 'account_not_refreshed', subject: 'apn_1' },
    ]);
  });

  it('is left alone when it is a day old, or passes by itself', async () => {
    const { handle, told } = reactor();
    await handle('webhook-wh_1', 'WebhookDisabled', { reason: 'x', disabledAt: NOON - 86_400_001 });
    await handle('account-apn_1', 'AccountRefreshFailed', { reason: 'x', failedAt: NOON, retryAt: NOON + 1 });
    expect(await told()).toEqual([]);
  });
});
