import { describe, expect, it } from '@jest/globals';
import { Standby, type Startable } from './standby.js';

class FakeProcess implements Startable {
  hasEnded = false;
  private end: () => void = () => undefined;
  readonly ended = new Promise<void>((resolve) => (this.end = resolve));

  constructor(readonly n: number) {}

  kill(): void {
    this.hasEnded = true;
    this.end();
  }
}

const world = (idleMs = 60_000) => {
  const started: FakeProcess[] = [];
  let failure: Error | undefined;
  const start = async (): Promise<FakeProcess> => {
    await Promise.resolve();
    if (failure) throw failure;
    const process = new FakeProcess(started.length);
    started.push(process);
    return process;
  };
  const failWith = (error: Error | undefined): void => void (failure = error);
  return { standby: new Standby(start, idleMs), started, failWith };
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('Standby', () => {
  it('starts no process before it is asked to', async () => {
    const { standby, started } = world();
    await turn();
    expect(started).toHaveLength(0);
    expect((await standby.acquire()).n).toBe(0);
    await standby.close();
  });

  it('returns the process started ahead, once', async () => {
    const { standby, started } = world();
    standby.prepare();
    standby.prepare();
    await turn();
    expect(started).toHaveLength(1);
    expect((await Promise.all([standby.acquire(), standby.acquire()])).map(({ n }) => n)).toEqual([0, 1]);
    await standby.close();
  });

  it('returns a process that is still starting', async () => {
    const { standby, started } = world();
    standby.prepare();
    expect((await standby.acquire()).n).toBe(0);
    expect(started).toHaveLength(1);
    await standby.close();
  });

  it('starts another process when the one ahead has ended or could not start', async () => {
    const { standby, started, failWith } = world();
    standby.prepare();
    await turn();
    started[0]?.kill();
    expect((await standby.acquire()).n).toBe(1);
    failWith(new Error('no memory'));
    standby.prepare();
    await turn();
    failWith(undefined);
    expect((await standby.acquire()).n).toBe(2);
    failWith(new Error('no memory'));
    await expect(standby.acquire()).rejects.toThrow('no memory');
    await standby.close();
  });

  it('ends the process ahead when no caller takes it', async () => {
    const { standby, started } = world(1);
    standby.prepare();
    while (!started[0]?.hasEnded) await turn();
    expect((await standby.acquire()).n).toBe(1);
    await standby.close();
  });

  it('on close, ends all its processes, even one that is still starting, and starts no more', async () => {
    const { standby, started } = world();
    await standby.acquire();
    standby.prepare();
    await standby.close();
    await standby.close();
    standby.prepare();
    await turn();
    expect(started.map(({ hasEnded }) => hasEnded)).toEqual([true, true]);
    await expect(standby.acquire()).rejects.toThrow('closed');
  });
});
