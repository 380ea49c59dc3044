import { type StoredRecord } from '#libs/stream-log/stream-log.js';
import { costOf, type FetchBudget } from '../../fetch-budget.js';
import { type ChunkRow, storedRecord, visitRecords } from './chunks.js';
import { type Lane } from './lane.js';
import { type Database } from '../writer/sqlite-driver.js';

/** Reading from the file on the main thread stops after this time and continues in the next turn of the event loop. */
const TURN_MS = 4;
/** Most bytes read for one batch, unless its first record alone is larger. */
export const BATCH_BYTES = 4 << 20;

/** Reads up to `limit` records with offset in (after, upTo], one or as many as fit into `bytes`. `complete` when no more are left. */
export const readRecords = (
  reader: Database,
  topic: { readonly id: number; readonly name: string },
  range: { readonly after: number; readonly upTo: number; readonly limit: number; readonly bytes?: number },
): { records: StoredRecord[]; complete: boolean } => {
  const records: StoredRecord[] = [];
  const most = Math.min(range.bytes ?? BATCH_BYTES, BATCH_BYTES);
  let bytes = 0;
  const chunks = reader
    .sql('SELECT first, records FROM chunks WHERE topic = ? AND last > ? AND first <= ? ORDER BY last')
    .iterate<ChunkRow>(topic.id, range.after, range.upTo);
  for (const chunk of chunks) {
    const complete = visitRecords(chunk, range, (record, offset) => {
      if (records.length === range.limit) return false;
      bytes += costOf(record);
      if (bytes > most && records.length > 0) return false;
      records.push(storedRecord(topic.name, record, offset));
      return true;
    });
    if (!complete) return { records, complete };
  }
  return { records, complete: records.length < range.limit };
};

/** Serves the lanes that lag behind the records in memory, one batch each in turn. */
export class Fetcher {
  private readonly waiting = new Set<Lane>();
  private scheduled = false;
  private stopped = false;

  /** `durable` returns the highest offset that the main thread knows to be durable. */
  constructor(
    private readonly reader: Database,
    private readonly durable: () => number,
    private readonly budget: FetchBudget,
  ) {}

  add(lane: Lane): void {
    lane.fetching = true;
    this.waiting.add(lane);
    this.schedule();
  }

  remove(lane: Lane): void {
    lane.fetching = false;
    this.waiting.delete(lane);
  }

  stop(): void {
    this.stopped = true;
    this.waiting.clear();
  }

  private schedule(): void {
    if (this.scheduled || this.stopped) return;
    this.scheduled = true;
    setImmediate(() => this.turn());
  }

  private turn(): void {
    this.scheduled = false;
    const until = performance.now() + TURN_MS;
    for (const lane of this.waiting) {
      this.remove(lane);
      this.serve(lane);
      if (performance.now() > until) break;
    }
    if (this.waiting.size > 0) this.schedule();
  }

  private serve(lane: Lane): void {
    const limit = lane.room();
    if (this.stopped || limit <= 0) return;
    const upTo = this.durable();
    const bytes = this.budget.share - lane.window.heldBytes;
    const { records, complete } = readRecords(this.reader, lane.topic, { after: lane.position, upTo, limit, bytes });
    lane.fetched(records, complete ? upTo : -1);
  }
}
