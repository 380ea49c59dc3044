import { describe, expect, it } from '@jest/globals';
import { type RunCommit } from '#libs/runner/run-journal.js';
import { changeOf, newDocument, stateOf, updateOf, type RunDocument } from './run-document.js';

const commit = (expectedVersion: number, progress: RunCommit['progress']): RunCommit => ({
  sourceId: 'dc_1',
  expectedVersion,
  progress,
  dedupe: {},
  dbChanges: {},
  inbox: [],
  records: [],
  lastEventId: '1-0',
});
const change = (expectedVersion: number, progress: RunCommit['progress']) =>
  changeOf(
    commit(expectedVersion, progress),
    `commit ${expectedVersion}`,
    { chunks: new Map(), dropped: [] },
    { entry: undefined, published: [], drained: true },
  );
const applied = (document: RunDocument, next: ReturnType<typeof change>): RunDocument => ({
  ...document,
  ...updateOf(next).$set,
});

describe('the origin of what a source has done', () => {
  const origin = { id: 'topic', epoch: 3 };
  const first = newDocument('dc_1', change(0, { through: 5, above: [], origin }));

  it('is read again with the progress of its commit', () => {
    expect(stateOf(first).progress).toEqual({ through: 5, above: [], origin });
    const second = applied(first, change(1, { through: 9, above: [], origin: { id: 'topic', epoch: 4 } }));
    expect(stateOf(second).progress).toEqual({ through: 9, above: [], origin: { id: 'topic', epoch: 4 } });
  });
});
