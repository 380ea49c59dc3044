import { describe, expect, it } from '@jest/globals';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { repliesOverLog } from './replies-over-log.js';
import { replyTopic } from './reply-records.js';

const reply = { status: 200, headers: {}, body: '', base64: false } as const;

describe('answers over the log', () => {
  // docs/adr/0011
  it('whose topic is missing arrive when its process has made it anew, and are given up after a while', async () => {
    const log = new InMemoryStreamLog();
    const replies = repliesOverLog(log, { warn: () => undefined }, { againMs: 1 });
    const [slow, dead] = [replyTopic('slow'), replyTopic('dead')];
    replies.immediate(dead, 'inv_1', reply);
    replies.immediate(slow, 'inv_2', reply);
    while (log.published.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    await log.createTopic(slow);
    while (log.recordsOf(slow).length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(log.recordsOf(slow).map(({ key }) => key)).toEqual(['inv_2']);
    const toDead = (): number => log.published.flat().filter(({ topic }) => topic === dead).length;
    while (toDead() < 8) await new Promise((resolve) => setTimeout(resolve, 1));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(toDead()).toBe(8);
  });

  it('reach other processes, once each, while the topic of one cannot be written', async () => {
    const log = new InMemoryStreamLog();
    const [on, off] = [replyTopic('on'), replyTopic('off')];
    for (const topic of [on, off]) await log.createTopic(topic);
    const lost: unknown[] = [];
    const replies = repliesOverLog(log, { warn: (fields) => lost.push((fields as { topic?: string }).topic) });
    log.hang(off);
    for (const topic of [off, on, off, on]) replies.immediate(topic, `inv_${topic}`, reply);
    const turns = async (holds: () => boolean): Promise<void> => {
      while (!holds()) await new Promise<void>((resolve) => setImmediate(resolve));
    };
    await turns(() => log.recordsOf(on).length === 2 && log.hangingOf(off) === 2);
    // Tried alone once more, in case one of them was too large for the log.
    log.refuse(off);
    await turns(() => log.hangingOf(off) === 2);
    expect(lost).toEqual([]);
    log.refuse(off);
    expect(lost).toEqual([off, off]);
    expect(log.recordsOf(on)).toHaveLength(2);
    expect(log.recordsOf(off)).toHaveLength(0);
  });
});
