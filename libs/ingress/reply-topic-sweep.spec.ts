import { describe, expect, it } from '@jest/globals';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { ReplyTopicSweep } from './reply-topic-sweep.js';

const setUp = async (...processes: readonly string[]) => {
  const log = new InMemoryStreamLog();
  for (const id of processes) await log.createTopic(`replies.${id}`);
  await log.createTopic('other');
  const world = { log, registered: [...processes], now: 0, told: [] as object[] };
  const sweep = (): ReplyTopicSweep =>
    new ReplyTopicSweep({
      log,
      registered: async () => world.registered,
      logger: { warn: (fields) => void world.told.push(fields) },
      absentMs: 60_000,
      now: () => world.now,
    });
  const look = async (by: ReplyTopicSweep, after = 30_000): Promise<readonly string[]> => {
    world.now += after;
    return by.pass();
  };
  return { world, log, sweep, look };
};

// docs/adr/0011
describe('the sweep of topics of processes that ended', () => {
  it('deletes a topic when its process was absent in several looks over a while, and says so', async () => {
    const { world, log, sweep, look } = await setUp('p0', 'p1');
    world.registered = ['p1'];
    const one = sweep();
    expect(await look(one)).toEqual([]);
    expect(await look(one)).toEqual([]);
    expect(await look(one)).toEqual(['p0']);
    expect(await look(one)).toEqual([]);
    expect(await log.topics('')).toEqual(['other', 'replies.p1']);
    expect(world.told).toEqual([{ processes: ['p0'] }]);
  });

  it('deletes nothing on a first look, however often the work moves to another process', async () => {
    const { world, log, sweep, look } = await setUp('p0');
    world.registered = [];
    for (let moves = 0; moves < 20; moves++) expect(await look(sweep())).toEqual([]);
    expect(await log.topics('replies.')).toEqual(['replies.p0']);
  });

  it('deletes nothing in a few looks at once, nor after a stop of the looking process', async () => {
    const { world, sweep, look } = await setUp('p0');
    world.registered = [];
    const one = sweep();
    for (let looks = 0; looks < 10; looks++) expect(await look(one, 10)).toEqual([]);
    const other = sweep();
    expect(await look(other)).toEqual([]);
    expect(await look(other, 600_000)).toEqual([]);
  });

  it('begins again with a process that was registered in between', async () => {
    const { world, sweep, look } = await setUp('p0');
    const one = sweep();
    world.registered = [];
    for (let looks = 0; looks < 2; looks++) expect(await look(one)).toEqual([]);
    world.registered = ['p0'];
    expect(await look(one)).toEqual([]);
    world.registered = [];
    for (let looks = 0; looks < 2; looks++) expect(await look(one)).toEqual([]);
    expect(await look(one)).toEqual(['p0']);
  });

  it('deletes nothing while the registry cannot be read', async () => {
    const { log } = await setUp('p0');
    const registered = async (): Promise<readonly string[]> => Promise.reject(new Error('away'));
    const one = new ReplyTopicSweep({ log, registered, logger: { warn: () => undefined }, absentMs: 0 });
    for (let looks = 0; looks < 5; looks++) await expect(one.pass()).rejects.toThrow('away');
    expect(await log.topics('replies.')).toEqual(['replies.p0']);
  });
});
