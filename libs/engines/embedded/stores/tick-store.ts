import { type TickStore } from '#libs/scheduling/tick-store.js';
import { type Database } from '../writer/sqlite-driver.js';
import { type Writer } from '../writer/writer.js';

/** TickStore in data.db. */
export class EmbeddedTickStore implements TickStore {
  constructor(
    private readonly writer: Writer,
    private readonly reader: Database,
  ) {}

  async load(): Promise<ReadonlyMap<string, number>> {
    const rows = this.reader.sql('SELECT key, at FROM ticks').all<{ key: string; at: number }>();
    return new Map(rows.map(({ key, at }) => [key, at]));
  }

  async save(ticks: ReadonlyMap<string, number>): Promise<void> {
    if (ticks.size > 0) await this.writer.submit('ticks', [...ticks].flat());
  }

  async drop(sourceId: string): Promise<void> {
    await this.writer.submit('drop_ticks', sourceId);
  }
}
