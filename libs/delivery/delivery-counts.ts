import { type AttemptCounts, type RecordedOutcome } from '#libs/stream-log/attempt-records.js';
import { countsText, type HourCounts, NO_COUNTS, withCounted } from '#libs/stream-log/hour-counts.js';

/**
 * Counts the deliveries of each webhook by their final outcome, since this process began. Each record of attempts carries
 * the whole count of its process, so that none is counted twice, and a reader adds up those of all processes.
 */
export class DeliveryCounts {
  private readonly byWebhook = new Map<string, HourCounts>();

  /** @param epoch id of this process. */
  constructor(private readonly epoch: string) {}

  /** Counts an attempt, and returns the counts with it. */
  with(webhookId: string, outcome: RecordedOutcome, at: number): AttemptCounts {
    const before = this.byWebhook.get(webhookId) ?? NO_COUNTS;
    const [events, errors] = [outcome === 'success' ? 1 : 0, outcome === 'final' ? 1 : 0];
    const counts = withCounted(before, at, { events, errors });
    this.byWebhook.set(webhookId, counts);
    return { epoch: this.epoch, text: () => countsText(counts) };
  }
}
