import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type LiveView } from '#libs/kernel/live-view.js';
import { AppHookIndex } from './app-hook-index.js';
import { sourceDecider, type SourceRecord, type SourceState } from './domain/source.js';
import {
  type Endpoint,
  type NameSlugReleased,
  type NameSlugReserved,
  propsOf,
  type SourceDefinition,
  type Timer,
} from './published.js';
import { isSourceEvent, sourceEventOf } from './read-models/sources.projection.js';
import { SlugReservations } from './slug-reservations.js';

export type SourceStatus = 'deploying' | 'active' | 'inactive' | 'updating' | 'deleting';

export interface SourceEntry {
  readonly workspaceId: string;
  readonly name: string;
  readonly status: SourceStatus;
  /** State in force, regardless of a running operation. An update counts from its end on. */
  readonly active: boolean;
  /** Definition in force. */
  readonly definition: SourceDefinition;
  /** State and definition that a running update will put in force. */
  readonly next?: { readonly active: boolean; readonly definition: SourceDefinition };
}

export interface ServedEndpoint {
  readonly sourceId: string;
  readonly workspaceId: string;
  readonly prop: string;
  readonly customResponse: boolean;
}

/** The armed timers of a source. */
export interface ArmedTimers {
  readonly sourceId: string;
  readonly workspaceId: string;
  /** Empty when disarmed. */
  readonly timers: readonly Timer[];
  /** Arming time in epoch milliseconds, from which intervals count. A restart keeps it. */
  readonly since: number;
  /** A deployment armed them, so intervals tick at once. See docs/reference/component-model.md#timer-first-tick. */
  readonly first: boolean;
}

interface Row {
  readonly workspaceId: string;
  readonly state: SourceState;
  readonly armed: Pick<ArmedTimers, 'timers' | 'since' | 'first'>;
}

const UNARMED: Row['armed'] = { timers: [], since: 0, first: false };

/** In-memory view of every source in the log, for runner, ingress, scheduler, router and start-up. */
export class SourcesView implements LiveView {
  private readonly rows = new Map<string, Row>();
  private readonly endpoints = new Map<string, ServedEndpoint>();
  /** Sources by the events of apps that they accept. */
  readonly appHooks = new AppHookIndex();
  private readonly changeListeners = new Set<(sourceId: string) => void>();
  private readonly timerListeners = new Set<(armed: ArmedTimers) => void>();
  /** Held slugs, also of sources that are gone or never existed, for `reconcileSources`. */
  readonly reservations = new SlugReservations();

  apply(event: RecordedEvent): void {
    if (isSourceEvent(event)) this.applySource(idOf(event.stream), event);
    else if (isSlugReserved(event)) this.reservations.add(event.metadata.workspaceId, event.data);
    else if (isSlugReleased(event)) {
      this.reservations.remove(event.metadata.workspaceId, event.data);
      this.dropIfForgotten(event.data.sourceId);
    }
  }

  /** Undefined when the source is unknown, deleted, or its deployment failed. */
  find(sourceId: string): SourceEntry | undefined {
    const row = this.rows.get(sourceId);
    return row && entryOf(row);
  }

  /** Id of the source that has this name slug. Undefined until it is deployed, and for a slug that an update only reserved. */
  idOfSlug(workspaceId: string, slug: string): string | undefined {
    const sourceId = this.reservations.holderOf(workspaceId, slug);
    const state = sourceId === undefined ? undefined : this.rows.get(sourceId)?.state;
    if (!state || state.status === 'none' || state.status === 'deploying' || state.status === 'gone') return undefined;
    return state.source.nameSlug === slug ? sourceId : undefined;
  }

  /** Finds an endpoint by its key. Undefined when no source serves it now. */
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

  /** Includes sources that are gone, while they hold a slug. */
  states(): ReadonlyMap<string, { readonly workspaceId: string; readonly state: SourceState }> {
    return this.rows;
  }

  /** Calls the listener after each event of a source, also after its last one. Returns how to unsubscribe. */
  onChange(listener: (sourceId: string) => void): () => void {
    this.changeListeners.add(listener);
    return () => this.changeListeners.delete(listener);
  }

  /** Calls the listener when timers are armed, rearmed or disarmed, also in history. Returns how to unsubscribe. */
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
    // The endpoints in force come last, so that they win over new ones with the same key during an update.
    for (const { key, prop, customResponse } of servedBy(after)) {
      this.endpoints.set(key, { sourceId, workspaceId, prop, customResponse });
    }
    this.appHooks.set(sourceId, workspaceId, definitionInForce(after));
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

const entry = (workspaceId: string, status: SourceStatus, { name, active, definition }: SourceRecord): SourceEntry => ({
  workspaceId,
  name,
  status,
  active,
  definition,
});

/**
 * Endpoints serve from the start of a deployment, so that services can call back during `activate`. During an update
 * the old and the new ones serve. An inactive source has none. See docs/reference/rest-api.md#endpoint-service.
 */
const servedBy = (state: SourceState): readonly Endpoint[] => {
  switch (state.status) {
    case 'none':
    case 'gone':
      return [];
    case 'deploying':
    case 'deployed':
    case 'deleting':
      return state.source.active ? propsOf(state.source.definition, 'http') : [];
    case 'updating':
      return [
        ...(state.next.active ? propsOf(state.next.definition, 'http') : []),
        ...(state.source.active ? propsOf(state.source.definition, 'http') : []),
      ];
  }
};

/** The definition by which a source accepts events of apps. Undefined for a source that is inactive or not deployed. */
const definitionInForce = (state: SourceState): SourceDefinition | undefined => {
  switch (state.status) {
    case 'none':
    case 'gone':
    case 'deploying':
      return undefined;
    case 'deployed':
    case 'updating':
    case 'deleting':
      return state.source.active ? state.source.definition : undefined;
  }
};

/** Returns the same object while the same timers stay armed. */
const armedAfter = (before: Row | undefined, state: SourceState): Row['armed'] => {
  const armed = before?.armed ?? UNARMED;
  const due = state.status !== 'none' && state.status !== 'deploying' && state.status !== 'gone' && state.source.active;
  const timers = due ? propsOf(state.source.definition, 'timer') : [];
  if (JSON.stringify(timers) === JSON.stringify(armed.timers)) return armed;
  if (timers.length === 0 || !due) return UNARMED;
  return { timers, since: state.source.updatedAt, first: before?.state.status === 'deploying' };
};
