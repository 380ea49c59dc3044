import { type ConsumeOptions, type LaneBatch, type StoredRecord } from './stream-log.js';

/** Whose a record is: headers `source` (an invocation) or `emitter` (an emit, a delivery), and `workspace`. */
export interface Owner {
  readonly source: string;
  readonly workspace: string;
}

interface Open {
  readonly owner: Owner;
  readonly bytes: number;
}

interface Tally {
  records: number;
  bytes: number;
}

export const ownerOf = ({ headers }: Pick<StoredRecord, 'headers'>): Owner => ({
  source: headers['source'] ?? headers['emitter'] ?? '',
  workspace: headers['workspace'] ?? '',
});

/**
 * What consumers of this process have been handed and have not acknowledged, by source and by workspace. Counted as
 * records come and go, so asking costs a look-up. A consumer is handed only so many records of a lane, and more follow
 * as it acknowledges: a source that is far behind stays at that number, whatever waits in the log.
 */
export class HandedOver {
  /** By lane and offset: a batch may be handed over again, a record acknowledged twice. */
  private readonly lanes = new Map<string, Map<number, Open>>();
  private readonly sources = new Map<string, Tally>();
  private readonly workspaces = new Map<string, Tally>();
  private total = 0;

  /** @param cap a source counts for its workspace with no more records than this. */
  constructor(private readonly cap: number) {}

  /** Options of a consumer whose records are counted here. */
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

  bytesOfWorkspace(workspaceId: string): number {
    return this.workspaces.get(workspaceId)?.bytes ?? 0;
  }

  get bytes(): number {
    return this.total;
  }

  get workspaceCount(): number {
    return this.workspaces.size;
  }

  *byWorkspace(): Iterable<readonly [workspaceId: string, records: number]> {
    for (const [id, { records }] of this.workspaces) yield [id, records];
  }

  /** Sources of which something is in hand, with the number of records. */
  *bySource(): Iterable<readonly [sourceId: string, records: number]> {
    for (const [id, { records }] of this.sources) yield [id, records];
  }

  /** Owners of what is in hand of one lane. */
  *ownersIn(lane: string): Iterable<Owner> {
    for (const { owner } of this.lanes.get(lane)?.values() ?? []) yield owner;
  }

  private watched(batch: LaneBatch): LaneBatch {
    const { lane, topic, records } = batch;
    return {
      ...{ lane, topic, records },
      revoked: () => batch.revoked(),
      ack: (offset) => {
        this.close(lane, offset);
        batch.ack(offset);
      },
    };
  }

  private open(record: StoredRecord): void {
    const { lane, offset, size } = record;
    let opened = this.lanes.get(lane);
    if (!opened) this.lanes.set(lane, (opened = new Map<number, Open>()));
    if (opened.has(offset)) return;
    const one = { owner: ownerOf(record), bytes: size };
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

  private count({ owner, bytes }: Open, sign: 1 | -1): void {
    const source = this.sources.get(owner.source) ?? { records: 0, bytes: 0 };
    const before = Math.min(source.records, this.cap);
    source.records += sign;
    source.bytes += sign * bytes;
    if (source.records === 0) this.sources.delete(owner.source);
    else this.sources.set(owner.source, source);

    const workspace = this.workspaces.get(owner.workspace) ?? { records: 0, bytes: 0 };
    workspace.records += Math.min(source.records, this.cap) - before;
    workspace.bytes += sign * bytes;
    this.total += sign * bytes;
    // Of sources without a workspace (records of a former version) nothing is left behind either.
    if (workspace.records === 0 && workspace.bytes === 0) this.workspaces.delete(owner.workspace);
    else this.workspaces.set(owner.workspace, workspace);
  }
}
