import { type Shown } from './stream-source.js';

/** Merges records that are each oldest first. Holds one of each at a time. */
export async function* oldestFirst(all: readonly AsyncIterable<Shown>[]): AsyncGenerator<Shown> {
  const open = all.map((records) => records[Symbol.asyncIterator]());
  try {
    const heads = await Promise.all(open.map((records) => records.next()));
    for (;;) {
      let oldest: number | undefined;
      for (const [i, head] of heads.entries()) {
        const least = oldest === undefined ? undefined : heads[oldest];
        if (head.done !== true && (least === undefined || least.done === true || head.value.at < least.value.at))
          oldest = i;
      }
      const head = oldest === undefined ? undefined : heads[oldest];
      if (oldest === undefined || !head || head.done === true) return;
      yield head.value;
      heads[oldest] = (await open[oldest]?.next()) ?? { done: true, value: undefined };
    }
  } finally {
    for (const records of open) await records.return?.();
  }
}
