import { type Clock } from '#libs/kernel/clock.js';
import {
  type DedupeCache,
  failIfTooLarge,
  type RunCommit,
  type RunJournal,
  type SourceState,
} from '#libs/runner/run-journal.js';
import { pagesByKey } from '../pages.js';
import { textIn, type Database } from '../writer/sqlite-driver.js';
import { type EmbeddedStreamLog } from '../stream-log/stream-log.js';
import { type OnWritten, type Writer } from '../writer/writer.js';

interface StateRow {
  readonly version: number;
  readonly through: number;
  readonly above: string;
  readonly last_event_id: string;
}

/** RunJournal in data.db. A commit writes state, caches, db keys, inbox and emits in one transaction. */
export class EmbeddedRunJournal implements RunJournal {
  constructor(
    private readonly writer: Writer,
    private readonly reader: Database,
    private readonly log: EmbeddedStreamLog,
    private readonly clock: Clock,
  ) {}

  async load(sourceId: string): Promise<SourceState> {
    const row = this.reader.sql('SELECT * FROM source_state WHERE source = ?').get<StateRow>(sourceId);
    const dedupe = this.reader
      .sql('SELECT channel, cache FROM source_dedupe WHERE source = ?')
      .all<{ channel: string | Uint8Array; cache: string }>(sourceId);
    const db = this.reader
      .sql('SELECT key, value FROM source_db WHERE source = ?')
      .all<{ key: string | Uint8Array; value: string }>(sourceId);
    const heard = this.reader
      .sql('SELECT key, through, above FROM source_heard WHERE source = ?')
      .all<{ key: string; through: string; above: string }>(sourceId);
    return {
      version: row?.version ?? 0,
      progress: { through: row?.through ?? -1, above: row ? (JSON.parse(row.above) as number[]) : [] },
      dedupe: Object.fromEntries(
        dedupe.map(({ channel, cache }) => [textIn(channel), JSON.parse(cache) as DedupeCache]),
      ),
      db: Object.fromEntries(db.map(({ key, value }) => [textIn(key), value])),
      heard: Object.fromEntries(
        heard.map(({ key, through, above }) => [key, { through, above: JSON.parse(above) as string[] }]),
      ),
      lastEventId: row?.last_event_id ?? '',
    };
  }

  async seen(sourceId: string, invocationIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = this.reader
      .sql('SELECT invocation FROM source_inbox WHERE source = ? AND invocation IN (SELECT value FROM json_each(?))')
      .all<{ invocation: string }>(sourceId, JSON.stringify(invocationIds));
    return new Set(rows.map(({ invocation }) => invocation));
  }

  async commit(commit: RunCommit): Promise<void> {
    const { sourceId, expectedVersion, progress, lastEventId, inbox, records } = commit;
    failIfTooLarge(commit);
    const at = this.clock.now();
    const prepared = await this.log.prepareAll(records, at);
    let bytes = 300 + prepared.bytes;
    const dedupe: (string | null)[] = [];
    for (const [channel, cache] of Object.entries(commit.dedupe)) {
      const text = cache === null ? null : JSON.stringify(cache);
      bytes += text?.length ?? 0;
      dedupe.push(channel, text);
    }
    const db = Object.entries(commit.dbChanges).flat();
    const heard = Object.entries(commit.heard ?? {}).flatMap(([key, progress]) => [
      key,
      progress?.through ?? null,
      progress ? JSON.stringify(progress.above) : null,
    ]);
    for (const text of [...db, ...heard]) bytes += text?.length ?? 0;
    const args = {
      sourceId,
      expectedVersion,
      lastEventId,
      inbox,
      through: progress.through,
      above: progress.above.length === 0 ? '[]' : JSON.stringify(progress.above),
      dedupe,
      db,
      heard,
    };
    return new Promise((resolve, reject) => {
      const written: OnWritten<'run'> = (error, offsets) => {
        if (error || offsets === undefined) {
          reject(error ?? new Error('the writer gave no result'));
          return;
        }
        this.log.appended(prepared.records, offsets, at);
        resolve();
      };
      this.writer.send('run', args, written, { bytes, records: prepared });
    });
  }

  async *sources(): AsyncIterable<string> {
    const page = this.reader.sql(
      'SELECT source FROM source_state WHERE source > ? AND source <= ? ORDER BY source LIMIT ?',
    );
    const rows = pagesByKey<{ source: string }>(
      this.reader.sql('SELECT max(source) AS last FROM source_state').get<{ last: string | null }>()?.last,
      (after, last, limit) => page.all(after, last, limit),
      ({ source }) => source,
    );
    for (const { source } of rows) yield source;
  }

  async inbox(sourceId: string): Promise<readonly string[]> {
    return this.reader
      .sql('SELECT invocation FROM source_inbox WHERE source = ? ORDER BY seq')
      .all<{ invocation: string }>(sourceId)
      .map(({ invocation }) => invocation);
  }

  async drop(sourceId: string): Promise<void> {
    await this.writer.submit('drop_source', sourceId);
  }
}
