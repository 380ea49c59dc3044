import { median } from './memory.js';

/** One figure of the component model, with every value that it was measured from. */
export interface Samples {
  readonly part: string;
  readonly figure: string;
  readonly unit: string;
  readonly values: readonly number[];
}

export interface Summary extends Samples {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export const summaryOf = (samples: Samples): Summary => ({
  ...samples,
  median: median(samples.values),
  least: samples.values.length === 0 ? NaN : Math.min(...samples.values),
  most: samples.values.length === 0 ? NaN : Math.max(...samples.values),
});

/** Gathers values by figure. Figures keep the order in which they first appear. */
export class SampleBook {
  private readonly figures = new Map<string, Samples & { readonly values: number[] }>();

  add(part: string, figure: string, unit: string, value: number): void {
    const key = `${part}/${figure}`;
    const known = this.figures.get(key) ?? { part, figure, unit, values: [] };
    known.values.push(value);
    this.figures.set(key, known);
  }

  summaries(): readonly Summary[] {
    return [...this.figures.values()].map(summaryOf);
  }
}

/** Growth of a figure for each further unit, such as bytes for each source. NaN when nothing was added. */
export const growthEach = (before: number, after: number, added: number): number =>
  added === 0 ? NaN : (after - before) / added;

/** Three significant digits below 1,000, whole numbers above. */
const shown = (value: number): string => {
  if (!Number.isFinite(value)) return '–';
  return Math.abs(value) >= 1_000
    ? Math.round(value).toLocaleString('en')
    : value.toLocaleString('en', { maximumSignificantDigits: 3 });
};

export const tableOf = (summaries: readonly Summary[]): string => {
  const rows = summaries.map(({ part, figure, unit, median: middle, least, most, values }) => {
    const cells = [part, figure, unit, shown(middle), shown(least), shown(most), String(values.length)];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| part | figure | unit | median | least | most | values |',
    '| --- | --- | --- | ---: | ---: | ---: | ---: |',
    ...rows,
  ].join('\n');
};
