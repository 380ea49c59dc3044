import { afterEach, describe, expect, it } from '@jest/globals';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { openReplyChannel, type ReplyChannel } from './reply-channel.js';
import { repliesOverLog } from './replies-over-log.js';

const reply = { status: 200, headers: {}, body: '', base64: false } as const;
const TOPIC = 'replies.p1';

let channel: ReplyChannel | undefined;
afterEach(() => channel?.close());

const setUp = async () => {
  const log = new InMemoryStreamLog();
  const said: string[] = [];
  const logger = {
    error: (_: object, text: string) =>
      void said.push(
        text.replace(/:.*?(reply\.\w+)?/, (_all, name: string) => (name ? `:${name}` : '')).split(' ', 1)[0] ?? '',
      ),
    warn: () => undefined,
  };
  channel = await openReplyChannel({ log, processId: 'p1', logger, tryEveryMs: 2, lateMs: 50 });
  return { log, said, opened: channel };
};

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
};
const answered = async (log: InMemoryStreamLog, { relay }: ReplyChannel): Promise<number | undefined> => {
  const waiting = relay.expect('inv_1', 60_000);
  repliesOverLog(log, { warn: () => undefined }).immediate(relay.address, 'inv_1', reply);
  return (await waiting)?.status;
};

// docs/adr/0011
describe('the channel of answers', () => {
  it('whose topic is deleted is made anew, says so once and that it is over, and answers again', async () => {
    const { log, said, opened } = await setUp();
    for (let round = 1; round <= 3; round++) {
      await log.deleteTopic(TOPIC);
      await until(() => said.length === 2 * round);
      expect(await log.topics('')).toEqual([TOPIC]);
      expect(opened.problem()).toBeUndefined();
      expect(await answered(log, opened)).toBe(200);
    }
    expect(new Set(said)).toEqual(new Set(['reply.topic_gone', 'over']));
  });

  it('whose consumer is lost is read anew', async () => {
    const { log, said, opened } = await setUp();
    log.crash();
    await until(() => said.length === 2);
    expect(said).toEqual(['reply.not_heard', 'over']);
    expect(opened.problem()).toBeUndefined();
    expect(await answered(log, opened)).toBe(200);
  });

  it('is not well while its topic cannot be written, and again when it can', async () => {
    const { log, said, opened } = await setUp();
    let isAway = true;
    log.beforePublish = () => {
      if (isAway) throw new Error('no broker');
    };
    await until(() => opened.problem() !== undefined);
    expect(opened.problem()).toContain('no broker');
    isAway = false;
    await until(() => opened.problem() === undefined);
    expect(said).toEqual(['reply.unusable', 'over']);
  });

  it('makes no topic after it was closed', async () => {
    const { log, opened } = await setUp();
    await Promise.all([log.deleteTopic(TOPIC), opened.close()]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await log.topics('')).toEqual([]);
  });
});
