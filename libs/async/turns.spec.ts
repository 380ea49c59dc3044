import { describe, expect, it } from '@jest/globals';
import { Turns } from './turns.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('turns of long work', () => {
  it('are over when their work is done, until the next turn of the event loop', async () => {
    const turns = new Turns(10);
    turns.spend(6);
    expect(turns.isOver).toBe(false);
    await Promise.resolve();
    turns.spend(4);
    expect(turns.isOver).toBe(true);
    await turn();
    expect(turns.isOver).toBe(false);
  });

  it('count each piece of work, also one of no size', () => {
    const turns = new Turns(2);
    turns.spend(0);
    turns.spend(0);
    expect(turns.isOver).toBe(true);
  });

  it('let one piece of work go on in each turn, and keys take turns', async () => {
    const turns = new Turns(1);
    const done: string[] = [];
    const work = async (key: string): Promise<void> => {
      for (let n = 0; n < 3; n++) {
        await turns.later(key);
        expect(turns.isOver).toBe(false);
        turns.spend(5);
        done.push(key);
      }
    };
    await Promise.all([work('a'), work('a'), work('a'), work('a'), work('a'), work('b')]);
    // However many works of another key wait, one of a key gets every third turn at least.
    expect(done.slice(0, 9).filter((key) => key === 'b')).toHaveLength(3);
    expect(done).toHaveLength(18);
  });
});
