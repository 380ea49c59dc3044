import { describe, expect, it } from '@jest/globals';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { runsRecord, type SourceRun } from '#libs/stream-log/source-runs.js';
import { emit, T0, topics } from '../testing/emit-record.js';
import { workspaceStreamWorld } from '../testing/workspace-stream-world.js';

const ended = (n: number, { sourceId = 'dc_a', workspaceId = 'o_1' } = {}): LogRecord => {
  const run: SourceRun = {
    id: `inv_${n}`,
    kind: 'http',
    status: 'ok',
    queuedAt: T0,
    startedAt: T0 + n - 5,
    ms: 5,
    emits: 2,
    delayed: 0,
    logs: 0,
    httpStatus: null,
    attempts: 1,
    firstEvent: '',
    error: null,
  };
  return runsRecord({ topic: topics.emits(sourceId), sourceId, workspaceId }, [run]);
};
const cursorAt = (n: number): string => `${T0 + n}/x`;
const invocations = { streams: 'invocations' };

// docs/reference/rest-api.md#stream-workspace
describe('the stream of the runs of a workspace', () => {
  it('has each run when it ends, and no event', async () => {
    const world = await workspaceStreamWorld();
    const stream = await world.open(invocations);
    await world.publish(emit(1, 1), ended(20), ended(30, { sourceId: 'dc_b' }));
    const run = { kind: 'http', status: 'ok', ms: 5, emits: 2 };
    expect(stream.received()).toEqual([
      {
        event: 'invocations',
        id: `${T0 + 20}/dc_a/inv_20`,
        data: { source_id: 'dc_a', invocation_id: 'inv_20', ...run },
      },
      {
        event: 'invocations',
        id: `${T0 + 30}/dc_b/inv_30`,
        data: { source_id: 'dc_b', invocation_id: 'inv_30', ...run },
      },
    ]);
  });

  it('has those of one source, and none of another workspace', async () => {
    const world = await workspaceStreamWorld();
    const [one, theirs] = [
      await world.open({ ...invocations, emitterId: 'dc_b' }),
      await world.open({ ...invocations, workspaceId: 'o_2' }),
    ];
    const plain = await world.open();
    await world.publish(ended(1), ended(2, { sourceId: 'dc_b' }), ended(3, { sourceId: 'dc_c', workspaceId: 'o_2' }));
    const idsOf = ({ received }: typeof one) => received().map(({ data }) => data['invocation_id']);
    expect([idsOf(one), idsOf(theirs), idsOf(plain)]).toEqual([['inv_2'], ['inv_3'], []]);
    const kept = await world.open({ ...invocations, emitterId: 'dc_b' }, cursorAt(0));
    expect(idsOf(kept)).toEqual(['inv_2']);
  });

  it('resumes with the runs that ended from 10 s before the cursor, in the order of their ends, then live', async () => {
    const world = await workspaceStreamWorld();
    await world.publish(ended(1_000), ended(9_000, { sourceId: 'dc_b' }), ended(8_900), ended(20_000));
    const stream = await world.open(invocations, cursorAt(18_500));
    await world.publish(ended(21_000));
    expect(stream.received().map(({ data }) => data['invocation_id'])).toEqual([
      ...['inv_8900', 'inv_9000', 'inv_20000', 'inv_21000'],
    ]);
  });

  it('tells of a gap where a source has lost runs after the cursor, and of none where it has not', async () => {
    const world = await workspaceStreamWorld({ retained: 3 });
    await world.publish(...Array.from({ length: 60 }, (_, n) => ended(20_000 + n)));
    const [first] = (await world.open(invocations, cursorAt(15_000))).received();
    expect(first).toEqual({ event: 'gap', data: { since: T0 + 20_057 } });
    const few = await workspaceStreamWorld({ retained: 3 });
    await few.publish(ended(20_000));
    expect((await few.open(invocations, cursorAt(15_000))).received()).toHaveLength(1);
  });
});
