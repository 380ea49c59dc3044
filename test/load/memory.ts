import { measure, type Figures, type LoadShape, type Rig } from './measure.js';
import { totalOf, usageOf } from './part-usage.js';
import { type Target } from './targets.js';

export interface MemorySample {
  readonly second: number;
  readonly mainMb: number;
  readonly childrenMb: number;
}

export interface MemoryFigures {
  readonly figures: Figures;
  readonly samples: readonly MemorySample[];
  /** Median memory of main process and children together, in the second and in the last fifth of the run. */
  readonly earlyMb: number;
  readonly lateMb: number;
  /** Slope of a straight line through the samples after the first fifth. */
  readonly mbPerMinute: number;
}

const SAMPLES = 60;

/** Runs closed-loop load for minutes and reads the memory throughout. */
export const measureMemory = async (rig: Rig, target: Target, shape: LoadShape): Promise<MemoryFigures> => {
  const samples: MemorySample[] = [];
  const startedAt = performance.now();
  const sampler = setInterval(
    () => {
      const { mainRssMb, childrenRssMb } = totalOf(usageOf(target.parts()));
      const second = (performance.now() - startedAt) / 1000;
      samples.push({ second, mainMb: mainRssMb, childrenMb: childrenRssMb });
    },
    (shape.durationMs + shape.warmUpMs) / SAMPLES,
  );
  try {
    const figures = await measure(rig, target, shape);
    return { figures, samples, ...flatness(samples) };
  } finally {
    clearInterval(sampler);
  }
};

const totalMb = ({ mainMb, childrenMb }: MemorySample): number => mainMb + childrenMb;

export const flatness = (
  samples: readonly MemorySample[],
): Pick<MemoryFigures, 'earlyMb' | 'lateMb' | 'mbPerMinute'> => {
  const fifth = Math.floor(samples.length / 5);
  const steady = samples.slice(fifth);
  return {
    earlyMb: median(samples.slice(fifth, 2 * fifth).map(totalMb)),
    lateMb: median(samples.slice(samples.length - fifth).map(totalMb)),
    mbPerMinute: slope(steady.map((sample) => [sample.second / 60, totalMb(sample)])),
  };
};

/** Fits a line by least squares. */
const slope = (points: readonly (readonly [number, number])[]): number => {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(points.map((point) => point[0]));
  const y = mean(points.map((point) => point[1]));
  const above = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  const below = points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
  return below === 0 ? 0 : above / below;
};

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
};
