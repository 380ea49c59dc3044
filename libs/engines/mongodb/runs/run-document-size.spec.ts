import { describe, expect, it } from '@jest/globals';
import { BSON } from 'mongodb';
import { DEDUPE_LIMITS } from '#libs/runner/outcome/dedupe-memory.js';
import { MOST_ABOVE } from '#libs/runner/lane-tracker.js';
import { headOf } from '#libs/runner/lane-state.js';
import { type RunCommit } from '#libs/runner/run-journal.js';
import { partsOf } from '#libs/runner/source/source-state.js';
import { RUN_LIMITS, TEXT_LIMITS } from '#libs/sandbox/index.js';
import { changeOf, newDocument, updateOf } from './run-document.js';
import { RunInbox } from './run-inbox.js';

const DOCUMENT_BYTES = 16 << 20;

/** Names made of dots, each of which has five bytes in the document, up to a total number of bytes. */
const dotted = (letter: string, length: number, bytes: number, most: number): string[] =>
  Array.from({ length: Math.min(most, Math.floor(bytes / length)) }, (_, n) => `${letter}${n}`.padEnd(length, '.'));

/** A commit that fills a source up to each of its limits, in the largest form. */
const fullest = (letter: string): RunCommit => {
  const { dbTotalBytes, dbKeys } = RUN_LIMITS;
  const keys = dotted(letter, Math.floor(dbTotalBytes / dbKeys) - 1, dbTotalBytes, dbKeys);
  const channels = dotted(letter, TEXT_LIMITS.channel, DEDUPE_LIMITS.bytes, DEDUPE_LIMITS.channels);
  const left = DEDUPE_LIMITS.bytes - channels.length * TEXT_LIMITS.channel;
  const id = 'x'.repeat(Math.floor(left / channels.length));
  return {
    executable: 'dc_1',
    expectedVersion: 1,
    head: headOf({
      progress: { through: 0, above: Array.from({ length: 2 * MOST_ABOVE }, (_, n) => 2 ** 40 + n) },
      lastEventId: '1700000000000-1',
    }),
    parts: partsOf({
      dedupe: Object.fromEntries(channels.map((channel) => [channel, { strategy: 'last', id } as const])),
      db: Object.fromEntries(keys.map((key) => [key, '1'])),
    }),
    inbox: Array.from({ length: 1_600 }, (_, n) => `inv_${n}`.padEnd(40, 'x')),
    records: [],
  };
};

describe('the document of a source', () => {
  const inbox = new RunInbox();
  const change = (commit: RunCommit, entry: string) =>
    changeOf(commit, 'token', inbox.plan(commit.inbox), { entry, published: [], drained: false });

  it('fits MongoDB with every limit reached at once, in the form that takes most room, and a full outbox', () => {
    // The outbox with the most that may wait before a commit, and the records of that commit.
    const document = newDocument('dc_1', change(fullest('a'), 'x'.repeat(6 << 20)));
    const bytes = BSON.calculateObjectSize(document);
    expect(bytes).toBeGreaterThan(12 << 20);
    expect(bytes).toBeLessThan(DOCUMENT_BYTES);
  });

  it('can be changed in one command from one such state to another', () => {
    const [before, after] = [fullest('a'), fullest('b')];
    const gone = (names: object): Record<string, null> =>
      Object.fromEntries(Object.keys(names).map((name) => [name, null]));
    const replaced: RunCommit = { ...after, parts: { ...after.parts, ...gone(before.parts) } };
    const update = updateOf(change(replaced, 'x'.repeat(2 << 20)));
    expect(BSON.calculateObjectSize(update)).toBeLessThan(DOCUMENT_BYTES);
  });
});
