import { type EgressConnection } from './egress-tunnel.js';

interface Usage {
  connections: number;
  /** Connections that were refused, did not open, or were cut off. */
  failed: number;
  sent: number;
  received: number;
}

/** Most sources that are counted. Beyond it the least recently used one is forgotten. */
const MOST_COUNTED = 10_000;
/** Sources that a scrape shows, because each is a time series. */
const MOST_SHOWN = 100;

/** Counts the finished connections of each source (docs/reference/component-model.md#egress-usage). */
export class EgressUsage {
  /** Ordered by their last connection. */
  private readonly sources = new Map<string, Usage>();

  note(sourceId: string, { sent, received, error }: EgressConnection): void {
    const usage = this.sources.get(sourceId) ?? { connections: 0, failed: 0, sent: 0, received: 0 };
    this.sources.delete(sourceId);
    this.sources.set(sourceId, usage);
    usage.connections += 1;
    usage.failed += error === null ? 0 : 1;
    usage.sent += sent;
    usage.received += received;
    if (this.sources.size <= MOST_COUNTED) return;
    for (const [oldest] of this.sources) {
      this.sources.delete(oldest);
      return;
    }
  }

  /** One count by source, for the sources that moved most bytes. */
  bySource(count: keyof Usage): Readonly<Record<string, number>> {
    const bytes = ({ sent, received }: Usage): number => sent + received;
    const most = [...this.sources].sort(([, a], [, b]) => bytes(b) - bytes(a)).slice(0, MOST_SHOWN);
    return Object.fromEntries(most.map(([id, usage]) => [id, usage[count]]));
  }
}
