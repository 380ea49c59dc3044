import { build, type Histogram } from 'hdr-histogram-js';
import { type Quantiles } from './parts.js';

/** Three significant digits from 1 µs to 10 minutes. */
export const newHistogram = (): Histogram =>
  build({ lowestDiscernibleValue: 1, highestTrackableValue: 600_000_000, numberOfSignificantValueDigits: 3 });

export const quantilesMs = (histogram: Histogram): Quantiles => {
  const ms = (percentile: number): number => histogram.getValueAtPercentile(percentile) / 1_000;
  return { p50: ms(50), p90: ms(90), p99: ms(99), p999: ms(99.9), max: histogram.maxValue / 1_000 };
};

export const cpuUsSince = (start: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(start);
  return user + system;
};
