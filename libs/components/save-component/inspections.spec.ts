import { describe, expect, it } from '@jest/globals';
import { DomainError } from '#libs/kernel/domain-error.js';
import { Inspections } from './inspections.js';

/** Inspections that end on request. Names begin with the workspace: `a1` belongs to workspace `a`. */
const world = (atOnce: number, waiting = 10, waitingInAll = 20) => {
  const inspections = new Inspections({ atOnce, waiting, waitingInAll });
  const started: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const ask = (name: string, bytes = 1) => {
    const workspaceId = name.charAt(0);
    return inspections.of({ workspaceId, userId: `u_${workspaceId}`, componentId: name, bytes }, () => {
      started.push(name);
      return new Promise<never>((resolve, reject) => {
        ends.set(name, (error) => (error ? reject(error) : resolve(name as never)));
      });
    });
  };
  const end = async (name: string, error?: Error): Promise<void> => {
    ends.get(name)?.(error);
    await new Promise<void>((resolve) => setImmediate(resolve));
  };
  const codeOf = async (asked: Promise<unknown>): Promise<unknown> => {
    const error: unknown = await asked.catch((reason: unknown) => reason);
    return error instanceof DomainError ? error.code : error;
  };
  return { ask, end, started, codeOf };
};

describe('Inspections', () => {
  it('inspects a component once at a time, and again later', async () => {
    const { ask, end, started } = world(2);
    const both = [ask('a1'), ask('a1')];
    await end('a1');
    expect(await Promise.all(both)).toEqual(['a1', 'a1']);
    expect(started).toEqual(['a1']);
    void ask('a1');
    expect(started).toEqual(['a1', 'a1']);
  });

  it('queues further inspections in order, also behind a failing one', async () => {
    const { ask, end, started } = world(4);
    const results = Promise.allSettled(['a1', 'a2', 'a3', 'a4'].map((name) => ask(name)));
    expect(started).toEqual(['a1', 'a2']);
    await end('a2', new Error('broken'));
    expect(started).toEqual(['a1', 'a2', 'a3']);
    await end('a1');
    expect(started).toEqual(['a1', 'a2', 'a3', 'a4']);
    await end('a3');
    await end('a4');
    expect((await results).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    void ask('a5');
    void ask('a6');
    void ask('a7');
    expect(started.slice(4)).toEqual(['a5', 'a6']);
  });

  it.each([
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 2],
    [5, 2],
  ])('of %i slots gives one workspace %i, and the others the rest', (atOnce, own) => {
    const { ask, started } = world(atOnce);
    for (let i = 0; i < 9; i++) void ask(`a${i}`);
    expect(started).toHaveLength(own);
    void ask('b0');
    expect(started.includes('b0')).toBe(atOnce > own);
  });

  // docs/reference/rest-api.md#component-builds-turns
  it('lets workspaces take turns, however many inspections of one workspace wait', async () => {
    const { ask, end, started } = world(2);
    for (let i = 0; i < 5; i++) void ask(`a${i}`);
    for (const name of ['b0', 'b1', 'c0', 'd0']) void ask(name);
    expect(started).toEqual(['a0', 'b0']);
    for (const name of ['a0', 'b0', 'c0', 'd0', 'a1', 'b1', 'a2', 'a3']) await end(name);
    expect(started).toEqual(['a0', 'b0', 'c0', 'd0', 'a1', 'b1', 'a2', 'a3', 'a4']);
  });

  it('refuses an inspection beyond the limit of its workspace, and accepts it later', async () => {
    const { ask, end, started, codeOf } = world(2, 2);
    for (const name of ['a0', 'a1', 'a2']) void ask(name);
    expect(await codeOf(ask('a3'))).toBe('component.too_many_builds');
    void ask('b0');
    expect(started).toEqual(['a0', 'b0']);
    await end('a0');
    void ask('a3');
    await end('a1');
    expect(started).toEqual(['a0', 'b0', 'a1', 'a2']);
  });

  it('counts requests that wait for the same component', async () => {
    const { ask, end, codeOf } = world(2, 2);
    const all = [ask('a0'), ask('a0'), ask('a0')];
    expect(await codeOf(ask('a0'))).toBe('component.too_many_builds');
    await end('a0');
    await Promise.all(all);
    const again = [ask('a0'), ask('a0'), ask('a0')];
    await end('a0');
    expect(await Promise.all(again)).toHaveLength(3);
  });

  it('refuses an inspection beyond the limit of the server', async () => {
    const { ask, codeOf } = world(2, 2, 3);
    for (const name of ['a0', 'b0', 'a1', 'a2', 'b1']) void ask(name);
    expect(await codeOf(ask('b2'))).toBe('component.builds_overloaded');
    expect(await codeOf(ask('c0'))).toBe('component.builds_overloaded');
  });

  it('bounds the waiting bytes, and lets one inspection of any size wait', async () => {
    const { ask, codeOf } = world(2);
    const large = 20 * 1024 * 1024;
    for (const name of ['a0', 'a1']) void ask(name, 2 * large);
    expect(await codeOf(ask('a2', large))).toBe('component.too_many_builds');
    for (const name of ['b0', 'b1', 'c0', 'd0', 'e0']) void ask(name, large);
    expect(await codeOf(ask('f0', large))).toBe('component.builds_overloaded');
    void ask('f0', 1);
  });
});
