import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type LiveView } from '#libs/kernel/live-view.js';
import { sourceDecider, type SourceRecord, type SourceState } from './domain/source.js';
import { type NameSlugReleased, type NameSlugReserved, type SourceDefinition, type Timer } from './published.js';
import { isSourceEvent, sourceEventOf } from './read-models/sources.projection.js';
import { SlugReservations } from './slug-reservations.js';

export type SourceStatus = 'deploying' | 'active' | 'inactive' | 'updating' | 'deleting';

export interface SourceEntry {
  readonly workspaceId: string;
  readonly status: SourceStatus;
  /** In force, whatever operation runs: an update counts from its end on. */
  readonly active: boolean;
  /** In force likewise. */
  readonly definition: SourceDefinition;
  /** What a running update will put in force. */
  readonly next?: { readonly active: boolean; readonly definition: SourceDefinition };
}

export interface ServedEndpoint {
  readonly sourceId: string;
  readonly workspaceId: string;
  readonly prop: string;
  readonly customResponse: boolean;
}

/** The timers that are to tick now. */
export interface ArmedTimers {
  readonly sourceId: string;
  readonly workspaceId: string;
  /** None: disarmed. */
  readonly timers: readonly Timer[];
  /** When they were armed, epoch milliseconds: intervals count from here. The same after a restart. */
  readonly since: number;
  /** Armed by the deployment, not by a later update: interval timers tick at once (decisions.md 2.6). */
  readonly first: boolean;
}

interface Row {
  readonly workspaceId: string;
  readonly state: SourceState;
  readonly armed: Pick<ArmedTimers, 'timers' | 'since' | 'first'>;
}

const UNARMED: Row['armed'] = { timers: [], since: 0, first: false };

/** Every source as the log has it, in memory, for the roles: runner, ingress, scheduler, router, and the start-up. */
export class SourcesView implements LiveView {
  private readonly rows = new Map<string, Row>();
  private readonly endpoints = new Map<string, ServedEndpoint>();
  private readonly changeListeners = new Set<(sourceId: string) => void>();
  private readonly timerListeners = new Set<(armed: ArmedTimers) => void>();
  /** Slugs held, also by sources that are gone or never came to be: what `reconcileSources` looks at. */
  readonly reservations = new SlugReservations();

  apply(event: RecordedEvent): void {
    if (isSourceEvent(event)) this.applySource(idOf(event.stream), event);
    else if (isSlugReserved(event)) this.reservations.add(event.metadata.workspaceId, event.data);
    else if (isSlugReleased(event)) {
      this.reservations.remove(event.metadata.workspaceId, event.data);
      this.dropIfForgotten(event.data.sourceId);
    }
  }

  /** Undefined: unknown, deleted, or its deployment failed. */
  find(sourceId: string): SourceEntry | undefined {
    const row = this.rows.get(sourceId);
    return row && entryOf(row);
  }

  /** By endpoint key; undefined when no source serves it now. */
  endpoint(key: string): ServedEndpoint | undefined {
    return this.endpoints.get(key);
  }

  /** Undefined for a source that is unknown or gone. */
  armed(sourceId: string): ArmedTimers | undefined {
    const row = this.rows.get(sourceId);
    if (!row || row.state.status === 'gone') return undefined;
    return { sourceId, workspaceId: row.workspaceId, ...row.armed };
  }

  all(): ReadonlyMap<string, SourceEntry> {
    const entries = new Map<string, SourceEntry>();
    for (const [id, row] of this.rows) {
      const entry = entryOf(row);
      if (entry) entries.set(id, entry);
    }
    return entries;
  }

  /** Also of sources that are gone, as long as they hold a slug. */
  states(): ReadonlyMap<string, { readonly workspaceId: string; readonly state: SourceState }> {
    return this.rows;
  }

  /** Called after each event of a source, also of one that is gone by it. Returns how to stop that. */
  onChange(listener: (sourceId: string) => void): () => void {
    this.changeListeners.add(listener);
    return () => this.changeListeners.delete(listener);
  }

  /** Called when the timers of a source are armed, armed anew, or disarmed; in history too. Returns how to stop that. */
  onTimersChanged(listener: (armed: ArmedTimers) => void): () => void {
    this.timerListeners.add(listener);
    return () => this.timerListeners.delete(listener);
  }

  private applySource(sourceId: string, event: RecordedEvent): void {
    if (!isSourceEvent(event)) return;
    const before = this.rows.get(sourceId);
    const state = sourceDecider.evolve(before?.state ?? sourceDecider.initialState(), sourceEventOf(event));
    const workspaceId = before?.workspaceId ?? event.metadata.workspaceId;
    const armed = armedAfter(before, state);
    if (state.status === 'none') return;
    this.rows.set(sourceId, { workspaceId, state, armed });
    this.serve(sourceId, workspaceId, before?.state, state);
    this.dropIfForgotten(sourceId);
    if (armed !== (before?.armed ?? UNARMED)) {
      for (const listener of this.timerListeners) listener({ sourceId, workspaceId, ...armed });
    }
    for (const listener of this.changeListeners) listener(sourceId);
  }

  private serve(sourceId: string, workspaceId: string, before: SourceState | undefined, after: SourceState): void {
    for (const { key } of before ? servedBy(before) : []) this.endpoints.delete(key);
    // The ones in force come last: during an update they win over the new ones of the same key.
    for (const { key, prop, customResponse } of servedBy(after)) {
      this.endpoints.set(key, { sourceId, workspaceId, prop, customResponse });
    }
  }

  private dropIfForgotten(sourceId: string): void {
    const row = this.rows.get(sourceId);
    if (row?.state.status === 'gone' && !this.reservations.isHeldBy(sourceId)) this.rows.delete(sourceId);
  }
}

const isSlugReserved = (event: RecordedEvent): event is RecordedEvent<NameSlugReserved> =>
  event.type === 'NameSlugReserved';
const isSlugReleased = (event: RecordedEvent): event is RecordedEvent<NameSlugReleased> =>
  event.type === 'NameSlugReleased';

const entryOf = ({ workspaceId, state }: Row): SourceEntry | undefined => {
  switch (state.status) {
    case 'none':
    case 'gone':
      return undefined;
    case 'deployed':
      return entry(workspaceId, state.source.active ? 'active' : 'inactive', state.source);
    case 'updating': {
      const { active, definition } = state.next;
      return { ...entry(workspaceId, 'updating', state.source), next: { active, definition } };
    }
    case 'deploying':
    case 'deleting':
      return entry(workspaceId, state.status, state.source);
  }
};

const entry = (workspaceId: string, status: SourceStatus, { active, definition }: SourceRecord): SourceEntry => ({
  workspaceId,
  status,
  active,
  definition,
});

/**
 * Endpoints answer from the start of a deployment on, so that activate can be called back; during an update both the
 * former and the new ones do; an inactive source has none (decisions.md 1.5, 2.3).
 */
const servedBy = (state: SourceState): SourceDefinition['endpoints'] => {
  switch (state.status) {
    case 'none':
    case 'gone':
      return [];
    case 'deploying':
    case 'deployed':
    case 'deleting':
      return state.source.active ? state.source.definition.endpoints : [];
    case 'updating':
      return [
        ...(state.next.active ? state.next.definition.endpoints : []),
        ...(state.source.active ? state.source.definition.endpoints : []),
      ];
  }
};

/** The same object as long as the same timers tick on. */
const armedAfter = (before: Row | undefined, state: SourceState): Row['armed'] => {
  const armed = before?.armed ?? UNARMED;
  const due = state.status !== 'none' && state.status !== 'deploying' && state.status !== 'gone' && state.source.active;
  const timers = due ? state.source.definition.timers : [];
  if (JSON.stringify(timers) === JSON.stringify(armed.timers)) return armed;
  if (timers.length === 0 || !due) return UNARMED;
  return { timers, since: state.source.updatedAt, first: before?.state.status === 'deploying' };
};
