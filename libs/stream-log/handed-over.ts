import { type ConsumeOptions, type LaneBatch, type StoredRecord } from './stream-log.js';

/**
 * Owner of a record, from its headers: `source` (an invocation) or `emitter` (an emit, a delivery), and `workspace`.
 */
export interface Owner {
  readonly source: string;
  readonly workspace: string;
}

interface Tally {
  records: number;
}

interface WorkspaceTally extends Tally {
  /** Number of sources with records in flight. */
  sources: number;
}

export const ownerOf = ({ headers }: Pick<StoredRecord, 'headers'>): Owner => ({
  source: headers['source'] ?? headers['emitter'] ?? '',
  workspace: headers['workspace'] ?? '',
});

/**
 * Counts the records in flight in this process (handed over, not acknowledged), by source and by workspace. A query
 * costs one look-up. The log bounds the records of a lane in flight, so the count of a source that is far behind stays
 * at that bound.
 */
export class HandedOver {
  /** Open records by lane and offset, because batches and acknowledgements may repeat. */
  private readonly lanes = new Map<string, Map<number, Owner>>();
  private readonly sources = new Map<string, Tally>();
  private readonly workspaces = new Map<string, WorkspaceTally>();

  /** @param cap most records that count for a workspace from one source. */
  constructor(private readonly cap: number) {}

  /** Wraps the options of a consumer so that its records count. */
  counting(options: ConsumeOptions): ConsumeOptions {
    const { handler, onRevoked } = options;
    return {
      ...options,
      handler: (batch) => {
        for (const record of batch.records) this.open(record);
        return handler(this.watched(batch));
      },
      onRevoked: async (lane) => {
        try {
          await onRevoked?.(lane);
        } finally {
          this.closeLane(lane);
        }
      },
    };
  }

  recordsOf(sourceId: string): number {
    return this.sources.get(sourceId)?.records ?? 0;
  }

  recordsOfWorkspace(workspaceId: string): number {
    return this.workspaces.get(workspaceId)?.records ?? 0;
  }

  /** Number of the workspace's sources with records in flight. */
  sourcesOf(workspaceId: string): number {
    return this.workspaces.get(workspaceId)?.sources ?? 0;
  }

  *byWorkspace(): Iterable<readonly [workspaceId: string, records: number]> {
    for (const [id, { records }] of this.workspaces) yield [id, records];
  }

  /** Sources with records in flight, and their number. */
  *bySource(): Iterable<readonly [sourceId: string, records: number]> {
    for (const [id, { records }] of this.sources) yield [id, records];
  }

  /** Owners of the records in flight of one lane. */
  *ownersIn(lane: string): Iterable<Owner> {
    yield* this.lanes.get(lane)?.values() ?? [];
  }

  private watched(batch: LaneBatch): LaneBatch {
    return {
      ...batch,
      ack: (offset) => {
        this.close(batch.lane, offset);
        batch.ack(offset);
      },
    };
  }

  private open(record: StoredRecord): void {
    const { lane, offset } = record;
    let opened = this.lanes.get(lane);
    if (!opened) this.lanes.set(lane, (opened = new Map<number, Owner>()));
    if (opened.has(offset)) return;
    const one = ownerOf(record);
    opened.set(offset, one);
    this.count(one, 1);
  }

  private close(lane: string, offset: number): void {
    const opened = this.lanes.get(lane);
    const one = opened?.get(offset);
    if (!opened || !one) return;
    opened.delete(offset);
    if (opened.size === 0) this.lanes.delete(lane);
    this.count(one, -1);
  }

  private closeLane(lane: string): void {
    for (const one of this.lanes.get(lane)?.values() ?? []) this.count(one, -1);
    this.lanes.delete(lane);
  }

  private count({ source: id, workspace: workspaceId }: Owner, sign: 1 | -1): void {
    const source = this.sources.get(id) ?? { records: 0 };
    const before = Math.min(source.records, this.cap);
    const known = this.sources.size;
    source.records += sign;
    if (source.records === 0) this.sources.delete(id);
    else this.sources.set(id, source);

    const workspace = this.workspaces.get(workspaceId) ?? { records: 0, sources: 0 };
    workspace.records += Math.min(source.records, this.cap) - before;
    workspace.sources += this.sources.size - known;
    if (workspace.records === 0 && workspace.sources === 0) this.workspaces.delete(workspaceId);
    else this.workspaces.set(workspaceId, workspace);
  }
}
