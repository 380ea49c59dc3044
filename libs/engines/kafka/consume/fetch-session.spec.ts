import { beforeEach, describe, expect, it } from '@jest/globals';
import { FetchSession, type Wanted } from './fetch-session.js';
import { CODE } from '../wire/protocol.js';

/** FETCH_SESSION_ID_NOT_FOUND */
const UNKNOWN_SESSION = 70;
let session: FetchSession;
beforeEach(() => {
  session = new FetchSession();
});

const at = (topicId: string, position: number, partition = 0): Wanted => ({ topicId, partition, position });
const replied = (sessionId: number, errorCode: number = CODE.NONE): boolean =>
  session.answered({ errorCode, sessionId, responses: [] });
const next = (...wanted: readonly Wanted[]) => {
  const { sessionId, sessionEpoch, topics, forgottenTopics } = session.next(wanted);
  return {
    sessionId,
    sessionEpoch,
    asked: topics.flatMap(({ topicId, partitions }) =>
      partitions.map(({ partition, fetchOffset }) => `${topicId}/${partition}@${fetchOffset}`),
    ),
    forgotten: forgottenTopics.flatMap(({ topicId, partitions }) =>
      partitions.map((partition) => `${topicId}/${partition}`),
    ),
  };
};

describe('a fetch session', () => {
  it('begins with every partition, then sends only those that moved, came or went', () => {
    expect(next(at('a', 0), at('b', 5))).toEqual({
      sessionId: 0,
      sessionEpoch: 0,
      asked: ['a/0@0', 'b/0@5'],
      forgotten: [],
    });
    expect(replied(77)).toBe(true);
    expect(next(at('a', 3), at('b', 5), at('b', 0, 1))).toEqual({
      sessionId: 77,
      sessionEpoch: 1,
      asked: ['a/0@3', 'b/1@0'],
      forgotten: [],
    });
    expect(replied(77)).toBe(true);
    expect(next(at('a', 3))).toEqual({
      sessionId: 77,
      sessionEpoch: 2,
      asked: [],
      forgotten: ['b/0', 'b/1'],
    });
  });

  it('repeats the content of an unanswered request', () => {
    next(at('a', 0));
    replied(77);
    next(at('a', 9));
    expect(next(at('a', 9)).asked).toEqual(['a/0@9']);
  });

  it.each([
    ['the broker refuses it', () => replied(77, UNKNOWN_SESSION)],
    ['it is given up', () => session.reset()],
  ])('begins anew when %s', (_, end) => {
    next(at('a', 0));
    replied(77);
    next(at('a', 4));
    end();
    expect(next(at('a', 4))).toMatchObject({ sessionId: 0, sessionEpoch: 0, asked: ['a/0@4'], forgotten: [] });
  });

  it('sends every partition each time to a broker that keeps no sessions', () => {
    next(at('a', 0));
    expect(replied(0)).toBe(true);
    expect(next(at('a', 0))).toMatchObject({ sessionId: 0, sessionEpoch: 0, asked: ['a/0@0'] });
  });
});
