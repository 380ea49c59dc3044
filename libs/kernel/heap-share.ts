import { getHeapStatistics } from 'node:v8';

const MB = 1 << 20;
const MOST_MB = 256;
const LEAST_MB = 4;

/**
 * Limit on the memory of a process for one purpose, in bytes: a quarter of the heap, 256 MB at most. Texts need up to
 * two bytes a character and are copied on their way.
 */
export const shareOfHeap = (heapBytes: number = getHeapStatistics().heap_size_limit): number =>
  Math.min(MOST_MB, Math.max(LEAST_MB, Math.floor(heapBytes / MB / 4))) * MB;
