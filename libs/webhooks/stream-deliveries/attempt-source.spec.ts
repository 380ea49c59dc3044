import { afterEach, describe, expect, it } from '@jest/globals';
import { type Asked, LiveRecord, type Shown } from '#libs/event-streams/index.js';
import { attemptRecord, attemptsOf, packAttempts } from '#libs/stream-log/attempt-records.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { attempt, closeWorlds, topics, world } from '../testing/webhooks-world.js';
import { AttemptSource } from './attempt-source.js';

afterEach(closeWorlds);

const ASKED: Asked = { workspaceId: 'o_1', streams: new Set(['deliveries']), eventName: '', whole: false };
const T0 = 1_700_000_000_000;

const live = (record: LogRecord): LiveRecord =>
  new LiveRecord({ ...record, lane: 'attempts', offset: 0, timestamp: 0, size: 0 });
const dataIn = (shown: readonly Shown[]) =>
  shown.map(({ frame }) => JSON.parse(/^data: (.*)$/m.exec(frame.toString())?.[1] ?? '') as Record<string, unknown>);

const setUp = async () => {
  const { log, plane, create, recorded, call } = await world();
  const source = new AttemptSource(log, topics, plane.ports().readModels);
  const kept = async (since: number, over: Partial<Asked> = {}) => {
    const asked = { ...ASKED, ...over };
    expect(await source.caughtUp(asked)).toBe(true);
    const { gap, records } = await source.kept(asked, since, { userId: 'u_1', isOver: () => false });
    const shown: Shown[] = [];
    for await (const each of records) shown.push(each);
    return { gap, shown, ids: dataIn(shown).map(({ id }) => id) };
  };
  return { source, create, recorded, call, kept };
};

// docs/reference/rest-api.md#stream-workspace
describe('the attempts in the stream of a workspace', () => {
  it('are those of lists, with their webhook, live and kept', async () => {
    const { source, create, recorded, call, kept } = await setUp();
    const { id } = await create();
    const record = attempt(id, 1);
    await recorded(record);
    const list = (await call('get', `/v1/webhooks/${id}/deliveries`)).body as { data: readonly object[] };
    const shown = [{ ...list.data[0], webhook_id: id }];
    expect(dataIn(source.show(live(record), ASKED))).toEqual(shown);
    expect(dataIn((await kept(T0)).shown)).toEqual(shown);
    expect(source.show(live(record), ASKED)[0]?.frame.toString()).toMatch(
      new RegExp(`^event: deliveries\\nid: ${T0 + 1_013}/dlv_1\\.1\\.${T0 + 1_001}\\n`),
    );
  });

  it('are of the workspace, webhook and emitter that are asked for, also where one record has several', () => {
    const of = (n: number) => attemptsOf(attempt('wh_1', n));
    const other = { ...of(2)[0]!, emitter: 'dc_b' };
    const [packed] = packAttempts([...of(1), other]);
    const source = new AttemptSource({} as never, topics, {} as never);
    const ids = (over: Partial<Asked>) =>
      dataIn(source.show(live(packed?.record ?? attemptRecord(other)), { ...ASKED, ...over })).map(({ id }) => id);
    expect(packed?.record.headers['workspace']).toBe('o_1');
    expect(ids({})).toEqual(['dlv_1', 'dlv_2']);
    expect(ids({ emitterId: 'dc_b' })).toEqual(['dlv_2']);
    expect(ids({ webhookId: 'wh_2' })).toEqual([]);
    expect(ids({ workspaceId: 'o_2' })).toEqual([]);
  });

  it('are kept by the time of their end, of all webhooks in order', async () => {
    const { create, recorded, kept } = await setUp();
    const [one, two] = [await create(), await create()];
    await recorded(attempt(one.id, 1), attempt(two.id, 2), attempt(one.id, 3), attempt(two.id, 4));
    expect((await kept(T0 + 2_010)).ids).toEqual(['dlv_2', 'dlv_3', 'dlv_4']);
    expect((await kept(T0, { webhookId: two.id })).ids).toEqual(['dlv_2', 'dlv_4']);
  });

  it('have a gap where attempts after the time may be gone, and none otherwise', async () => {
    const { create, recorded, kept } = await setUp();
    const { id } = await create();
    await recorded(...Array.from({ length: 300 }, (_, n) => attempt(id, n)));
    const since = T0 + 100_000;
    const { gap } = await kept(since);
    expect(gap).toBe(T0 + 200_013);
    expect((await kept(T0 + 290_000)).gap).toBeUndefined();
  });
});
