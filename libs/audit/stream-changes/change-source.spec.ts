import { afterEach, describe, expect, it } from '@jest/globals';
import { type Asked, LiveRecord, type Shown } from '#libs/event-streams/index.js';
import { context } from '#libs/kernel/testing/counter.js';
import { ControlPlane } from '#libs/kernel/testing/control-plane.js';
import { type Decider } from '#libs/kernel/decider.js';
import { type StoredRecord } from '#libs/stream-log/stream-log.js';
import { workspaceAuditProjection } from '../read-models/workspace-audit.projection.js';
import { ChangeSource } from './change-source.js';
import { tailChanges } from './changes-tail.js';

interface Renamed {
  readonly type: 'Renamed';
  readonly data: { readonly name: string };
}
const decider = (category: string): Decider<string, Renamed, number> => ({
  category,
  initialState: () => 0,
  decide: (name) => [{ type: 'Renamed', data: { name } }],
  evolve: (n) => n + 1,
});
const [thing, hidden] = [decider('thing'), decider('hidden')];
const ASKED: Asked = { workspaceId: 'o_1', streams: new Set(['changes']), eventName: '', whole: false };

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const setUp = async () => {
  const plane = await ControlPlane.start({ projections: [workspaceAuditProjection(['thing'])] });
  const { events, readModels, handleCommand, readYourWrites } = plane.ports();
  const records: StoredRecord[] = [];
  const tail = await tailChanges(events, ['thing'], (more) => void records.push(...more));
  closing.push(
    () => tail.close(),
    () => plane.stop(),
  );
  let commands = 0;
  const rename = (of: typeof thing, id: string, workspaceId = 'o_1') =>
    handleCommand(of, id, 'x', context(`cmd-${commands++}`, { workspaceId }));
  return { source: new ChangeSource(events, readModels, readYourWrites), records, rename, tail };
};

const dataIn = (shown: readonly Shown[]) =>
  shown.map(({ frame }) => JSON.parse(/^data: (.*)$/m.exec(frame.toString())?.[1] ?? '') as unknown);

// docs/reference/rest-api.md#stream-workspace
describe('the changes in the stream of a workspace', () => {
  const change = (id: string, revision: number) => ({ kind: 'thing', resource_id: id, type: 'Renamed', revision });

  it('are the entries of its audit log, the same live and kept, and no others', async () => {
    const { source, records, rename } = await setUp();
    await rename(thing, 'wh_1');
    await rename(hidden, 'wh_2');
    await rename(thing, 'wh_3', 'o_2');
    await rename(thing, 'wh_1');
    expect(await source.caughtUp()).toBe(true);
    const kept: Shown[] = [];
    const { gap, records: all } = await source.kept(ASKED, 0, { userId: 'u_1', isOver: () => false });
    for await (const each of all) kept.push(each);
    expect([gap, dataIn(kept)]).toEqual([undefined, [change('wh_1', 0), change('wh_1', 1)]]);
    const ours = records.filter(({ headers }) => headers['workspace'] === source.keyOf(ASKED));
    const live = ours.flatMap((record) => source.show(new LiveRecord(record)));
    expect(live.map(({ frame }) => frame.toString())).toEqual(kept.map(({ frame }) => frame.toString()));
    expect(records).toHaveLength(3);
  });

  it('are read from now on, until the reader closes', async () => {
    const { records, rename, tail } = await setUp();
    expect(records).toEqual([]);
    await tail.close();
    await rename(thing, 'wh_1');
    expect(records).toEqual([]);
  });
});
