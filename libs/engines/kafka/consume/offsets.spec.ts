import { describe, expect, it } from '@jest/globals';
import { type Cluster } from '../wire/cluster.js';
import { CODE } from '../wire/protocol.js';
import { Offsets } from './offsets.js';

const GROUP_AUTHORIZATION_FAILED = 30;
const PARTITION = { topic: 't', partition: 0 };

/** Offsets of a group whose coordinator answers each call with the next code or connection error. */
const offsetsOf = (answers: (number | Error)[]): { readonly offsets: Offsets; readonly forgotten: string[] } => {
  const forgotten: string[] = [];
  const cluster = {
    isClosed: false,
    callCoordinator: () => {
      const answer = answers.shift() ?? CODE.NONE;
      if (answer instanceof Error) return Promise.reject(answer);
      const partition = { partition: 0, offset: 7, epoch: -1, metadata: '', errorCode: CODE.NONE };
      return Promise.resolve({ errorCode: answer, responses: [{ topic: 't', partitions: [partition] }] });
    },
    forgetCoordinator: (group: string) => forgotten.push(group),
  };
  return { offsets: new Offsets(cluster as unknown as Cluster), forgotten };
};

describe("a group's offsets", () => {
  it('are asked for again while the coordinator is down or moves', async () => {
    const answers = [new Error('connect ECONNREFUSED'), CODE.NOT_COORDINATOR];
    const { offsets, forgotten } = offsetsOf(answers);
    expect((await offsets.committed('g', [PARTITION])).get('t/0')?.next).toBe(7);
    expect(forgotten).toEqual(['g', 'g']);
  });

  it('are refused at once for a reason that stays', async () => {
    const answers = [GROUP_AUTHORIZATION_FAILED, CODE.NONE];
    await expect(offsetsOf(answers).offsets.committed('g', [PARTITION])).rejects.toThrow('group g');
    expect(answers).toEqual([CODE.NONE]);
  });
});
