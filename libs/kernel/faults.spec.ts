import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Faults } from './faults.js';

afterEach(() => void jest.useRealTimers());

const setUp = () => {
  jest.useFakeTimers({ doNotFake: ['performance'] });
  const said: string[] = [];
  const world = { now: 0 };
  const faults = new Faults({
    say: (text, fields) => void said.push(`${text} ${JSON.stringify(fields)}`),
    quietMs: 1_000,
    now: () => world.now,
  });
  const passes = (ms: number): void => {
    world.now += ms;
    jest.advanceTimersByTime(ms);
  };
  return { said, faults, passes };
};

describe('faults', () => {
  it('are said once while they go on, whatever failed, and once when they are over', () => {
    const { said, faults, passes } = setUp();
    for (let n = 0; n < 2_000; n++) {
      faults.met('broker a', n === 0 ? 'a is away' : 'a fetch failed', { broker: 'a' });
      passes(10);
    }
    expect(said).toEqual(['a is away {"broker":"a"}']);
    passes(2_000);
    expect(said.slice(1)).toEqual(['over: a is away {"broker":"a","ms":19990,"times":2000}']);
    faults.met('broker a', 'a is away', { broker: 'a' });
    expect(said).toHaveLength(3);
  });

  it('that differ by the ids of resources are one', () => {
    const { said, faults } = setUp();
    for (let n = 0; n < 500; n++) faults.met(`emits of dc_0mwx7xyhwve0${n} cannot be published: away`, `source ${n}`);
    faults.met('emits of dc_0mwx7xyhwve01 cannot be published: too large', 'another');
    expect(said).toEqual(['source 0 {}', 'another {}']);
  });

  it('of different causes are told apart, and a bound holds for those that go on', () => {
    const { said, faults } = setUp();
    for (let n = 0; n < 1_000; n++) faults.met(`cause ${n}`, `fault ${n}`);
    expect(said).toHaveLength(100);
    faults.over('cause 3');
    faults.over('cause 3');
    expect(said).toHaveLength(101);
    faults.close();
    faults.met('cause 3', 'fault 3');
    expect(said).toHaveLength(101);
  });
});
