import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { countedInDay, countsIn } from '#libs/stream-log/hour-counts.js';
import { eventSummaries } from './read-models/event-summaries.projection.js';
import { type CountsDoc, countsDocId } from './read-models/counts-doc.js';

/** What a source had lately. Times are epoch milliseconds; null for none. */
export interface SourceCounts {
  readonly lastEventAt: number | null;
  readonly lastErrorAt: number | null;
  /** In this hour and the 23 before. */
  readonly events: number;
  readonly errors: number;
}

/** Documents that are read in one turn of the event loop. */
const TOGETHER = 500;

const NOTHING: SourceCounts = { lastEventAt: null, lastErrorAt: null, events: 0, errors: 0 };

/** Reads what sources had lately, in the order of their ids. */
export const sourceCounts =
  (readModels: Pick<ReadModelStore, 'getMany'>) =>
  async (sourceIds: readonly string[], now: number): Promise<readonly SourceCounts[]> => {
    const counts: SourceCounts[] = [];
    for (let from = 0; from < sourceIds.length; from += TOGETHER) {
      const ids = sourceIds.slice(from, from + TOGETHER).map(countsDocId);
      const docs = await readModels.getMany<CountsDoc>(eventSummaries, ids);
      counts.push(...docs.map((doc) => (doc ? countsOf(doc, now) : NOTHING)));
    }
    return counts;
  };

const countsOf = ({ counts: text }: CountsDoc, now: number): SourceCounts => {
  const counts = countsIn(text);
  const { lastEventAt, lastErrorAt } = counts;
  return { lastEventAt: lastEventAt || null, lastErrorAt: lastErrorAt || null, ...countedInDay(counts, now) };
};
