import { type Clock } from '#libs/kernel/clock.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { newCommandId } from '#libs/kernel/ids.js';
import { type Vault } from '#libs/kernel/vault.js';
import {
  deployedSource,
  secretRefsOf,
  sourceDecider,
  type SourceCommand,
  type SourceRecord,
  type SourceState,
} from './domain/source.js';
import { NameSlugs } from './name-slugs.js';
import { type OwnerChanges } from './ports.js';
import { type SourceTopics } from './published.js';
import { type SlugReservation } from './slug-reservations.js';
import { type SourcesView } from './sources-view.js';

export interface ReconcileDependencies {
  /** Must have caught up with the log. */
  readonly view: SourcesView;
  readonly handle: HandleCommand;
  readonly topics: SourceTopics;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly ownerChanges: OwnerChanges;
  /**
   * Skips operations and reservations begun at or after this time, in epoch milliseconds, because another process may
   * be running them. When absent, all count as abandoned, which is right for a single process.
   */
  readonly startedBefore?: number;
}

export interface Reconciled {
  /** Ids of sources whose deployment or update was undone. */
  readonly rolledBack: readonly string[];
  /** Ids of sources whose deployment or update was finished, because that of their workflow is made. */
  readonly finished: readonly string[];
  /** Ids of sources whose deletion was finished. */
  readonly deleted: readonly string[];
  /** Slugs that were released, along with all leftovers of their sources. */
  readonly released: readonly string[];
}

/**
 * Ends the operations that a crash interrupted. Rolls back deployments and updates, finishes deletions, does with those of
 * owned sources what their workflow did, and removes leftovers that no source uses. Runs no hooks. Call it at start, before the process accepts operations. A repeat is
 * harmless. See docs/reference/component-model.md#deploy-interrupted.
 */
export const reconcileSources = async (deps: ReconcileDependencies): Promise<Reconciled> => {
  const { view, startedBefore = Infinity } = deps;
  const rolledBack: string[] = [];
  const finished: string[] = [];
  const deleted: string[] = [];
  const released: string[] = [];
  const slugs = new NameSlugs(deps.handle, deps.clock);

  // 1. End interrupted operations.
  const ended = new Map<string, SourceState>();
  for (const [sourceId, { workspaceId, state }] of view.states()) {
    const command = await endOf(state, deps);
    if (!command) continue;
    const context = contextFor(workspaceId, recordOf(state));
    ended.set(sourceId, (await deps.handle(sourceDecider, sourceId, command, context)).state);
    if (command.type === 'FinishDeletion') deleted.push(sourceId);
    else (command.type.startsWith('Finish') ? finished : rolledBack).push(sourceId);
  }
  const stateOf = (sourceId: string): SourceState =>
    ended.get(sourceId) ?? view.states().get(sourceId)?.state ?? sourceDecider.initialState();

  // 2. Release unused slugs, and remove data outside the log of sources that are gone.
  for (const reservation of view.reservations.all()) {
    const state = stateOf(reservation.sourceId);
    if (isUsed(reservation, state, startedBefore)) continue;
    if (deployedSource(state) === undefined) await removeLeftovers(deps, reservation, state);
    const context = contextFor(reservation.workspaceId, recordOf(state));
    await slugs.release(reservation.slug, reservation.sourceId, context);
    released.push(reservation.slug);
  }

  // 3. Delete secrets that the last operation of a source left unused.
  for (const sourceId of view.states().keys()) {
    const state = stateOf(sourceId);
    if (state.status !== 'deployed') continue;
    for (const ref of state.source.unusedSecrets) await deps.vault.delete(ref);
  }
  return { rolledBack, finished, deleted, released };
};

const INTERRUPTED = { reason: 'the server stopped during the operation', observations: [] };

const endOf = async (state: SourceState, deps: ReconcileDependencies): Promise<SourceCommand | undefined> => {
  const { startedBefore = Infinity, clock, ownerChanges } = deps;
  if (!('since' in state) || state.since >= startedBefore) return undefined;
  const { source, workflowChange } = state;
  const { owner } = source;
  const now = clock.now();
  const failed = { ...INTERRUPTED, now };
  const isOwned = owner !== undefined && workflowChange !== undefined;
  const isMade = isOwned && (await ownerChanges.isMade(owner.workflowId, workflowChange));
  switch (state.status) {
    case 'deploying':
      return isMade ? { type: 'FinishDeployment', now } : { type: 'FailDeployment', ...failed };
    case 'updating':
      return isMade ? { type: 'FinishUpdate', now } : { type: 'FailUpdate', ...failed };
    case 'deleting':
      return isMade || !isOwned ? { type: 'FinishDeletion', now } : { type: 'FailDeletion', ...failed };
  }
};

const isUsed = ({ slug, reservedAt }: SlugReservation, state: SourceState, startedBefore: number): boolean => {
  // A deployment or an update holds the slug and has not yet written its first event.
  if (reservedAt >= startedBefore) return true;
  switch (state.status) {
    case 'none':
    case 'gone':
      return false;
    case 'deploying':
      return true;
    case 'deployed':
    case 'deleting':
      return state.source.nameSlug === slug;
    case 'updating':
      return state.source.nameSlug === slug || state.next.nameSlug === slug;
  }
};

const removeLeftovers = async (
  { topics, vault }: ReconcileDependencies,
  reservation: SlugReservation,
  state: SourceState,
): Promise<void> => {
  await topics.remove(reservation.sourceId);
  const record = recordOf(state);
  const refs = record ? [...secretRefsOf(record.definition), ...record.unusedSecrets] : [];
  for (const ref of new Set([...reservation.secretRefs, ...refs])) await vault.delete(ref);
};

const recordOf = (state: SourceState): SourceRecord | undefined => (state.status === 'none' ? undefined : state.source);

/** The system acts on behalf of the owner. */
const contextFor = (workspaceId: string, source: SourceRecord | undefined): CommandContext => {
  const commandId = newCommandId();
  return {
    commandId,
    correlationId: commandId,
    causationId: commandId,
    actor: { userId: source?.userId ?? 'system', apiKeyId: null },
    workspaceId,
  };
};
