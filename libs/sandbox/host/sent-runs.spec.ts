import { beforeEach, describe, expect, it } from '@jest/globals';
import { MB } from '../protocol/protocol.js';
import { collectedRun } from '../testing/collected-run.js';
import { type RunCollector } from './run-collector.js';
import { SentRuns } from './sent-runs.js';

describe('runs in the child', () => {
  let sent: SentRuns;
  beforeEach(() => {
    sent = new SentRuns(2);
  });

  const add = (over: Parameters<typeof collectedRun>[0] = {}): RunCollector => {
    const run = collectedRun({ n: sent.nextNumber(), ...over });
    sent.add(run);
    return run;
  };

  it('have room for two frames, or for as many runs as may run at once', () => {
    for (let n = 1; n <= 127; n++) add();
    expect(sent.hasRoom()).toBe(true);
    const last = add();
    expect(sent.hasRoom()).toBe(false);
    sent.remove(last);
    expect([sent.hasRoom(), sent.size, last.n]).toEqual([true, 127, 128]);
    const wide = new SentRuns(200);
    for (let n = 1; n <= 199; n++) wide.add(collectedRun({ n }));
    expect(wide.hasRoom()).toBe(true);
  });

  it('have no room when their events are large, until one is removed', () => {
    const large = add({ eventBytes: 4 * MB });
    expect(sent.hasRoom()).toBe(false);
    sent.remove(large);
    // A second removal frees no bytes of other runs.
    sent.remove(large);
    add({ eventBytes: 4 * MB });
    expect(sent.hasRoom()).toBe(false);
  });

  it('can be given back unless they have started or are hooks', () => {
    const [first, second] = [add(), add()];
    add({ work: 'hook' });
    sent.start(first, 5);
    expect(sent.notStarted()).toEqual([second]);
  });

  it('name the first one only while none has started', () => {
    expect(sent.firstIfNoneStarted()).toBeUndefined();
    const [first, second] = [add(), add()];
    expect(sent.firstIfNoneStarted()).toBe(first);
    sent.start(second, 5);
    expect(sent.firstIfNoneStarted()).toBeUndefined();
  });

  it('name the one that started last, and the started one that holds the most', () => {
    const [first, second] = [add({ eventBytes: 10 }), add({ eventBytes: 5 })];
    add({ eventBytes: 1_000 });
    expect([sent.lastStarted(), sent.largest()]).toEqual([undefined, undefined]);
    sent.start(second, 5);
    sent.start(first, 5);
    expect([sent.lastStarted(), sent.largest()]).toEqual([first, first]);
    sent.remove(first);
    expect([sent.lastStarted(), sent.largest()]).toEqual([second, second]);
  });
});
