import { describe, expect, it } from '@jest/globals';
import { growthEach, SampleBook, summaryOf, tableOf } from './component-samples.js';

const samples = (values: readonly number[]) => ({ part: 'deploy', figure: 'no packages', unit: 'ms', values });

describe('figures of the component model', () => {
  it('gives median, least and most, and keeps the raw values in their order', () => {
    expect(summaryOf(samples([30, 10, 20]))).toEqual({ ...samples([30, 10, 20]), median: 20, least: 10, most: 30 });
  });

  it('has no figures of no values', () => {
    const { median, least, most } = summaryOf(samples([]));
    expect([median, least, most]).toEqual([NaN, NaN, NaN]);
  });

  it('gathers values by part and figure, in the order of first appearance', () => {
    const book = new SampleBook();
    book.add('deploy', 'warm', 'ms', 1);
    book.add('invoke', 'warm', 'ms', 5);
    book.add('deploy', 'warm', 'ms', 2);
    expect(book.summaries().map(({ part, figure, values }) => [part, figure, values])).toEqual([
      ['deploy', 'warm', [1, 2]],
      ['invoke', 'warm', [5]],
    ]);
  });

  it('divides growth by what was added', () => {
    expect(growthEach(1_000, 3_000, 500)).toBe(4);
    expect(growthEach(1_000, 3_000, 0)).toBeNaN();
  });

  it('writes a table with a row for each figure', () => {
    const table = tableOf([summaryOf(samples([1_234.56, 0.01234])), summaryOf(samples([]))]);
    expect(table.split('\n').slice(2)).toEqual([
      '| deploy | no packages | ms | 617 | 0.0123 | 1,235 | 2 |',
      '| deploy | no packages | ms | – | – | – | 0 |',
    ]);
  });
});
