import { describe, expect, it } from '@jest/globals';
import { Inspections } from './inspections.js';

/** An inspection that ends when it is told to. */
const controlled = () => {
  const started: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const inspect = (name: string) => () => {
    started.push(name);
    return new Promise<never>((resolve, reject) => {
      ends.set(name, (error) => (error ? reject(error) : resolve(name as never)));
    });
  };
  const end = async (name: string, error?: Error): Promise<void> => {
    ends.get(name)?.(error);
    await new Promise<void>((resolve) => setImmediate(resolve));
  };
  return { started, inspect, end };
};

describe('Inspections', () => {
  it('looks at one component once at a time, and again later', async () => {
    const { started, inspect, end } = controlled();
    const inspections = new Inspections(2);
    const both = [inspections.of('a', inspect('a')), inspections.of('a', inspect('a'))];
    await end('a');
    expect(await Promise.all(both)).toEqual(['a', 'a']);
    expect(started).toEqual(['a']);
    void inspections.of('a', inspect('a'));
    expect(started).toEqual(['a', 'a']);
  });

  it('lets the others wait in order, also behind one that fails', async () => {
    const { started, inspect, end } = controlled();
    const inspections = new Inspections(2);
    const all = ['a', 'b', 'c', 'd'].map((name) => inspections.of(name, inspect(name)));
    const results = Promise.allSettled(all);
    expect(started).toEqual(['a', 'b']);
    await end('b', new Error('broken'));
    expect(started).toEqual(['a', 'b', 'c']);
    await end('a');
    expect(started).toEqual(['a', 'b', 'c', 'd']);
    await end('c');
    await end('d');
    expect((await results).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    void inspections.of('e', inspect('e'));
    void inspections.of('f', inspect('f'));
    void inspections.of('g', inspect('g'));
    expect(started.slice(4)).toEqual(['e', 'f']);
  });
});
