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
import { type SourceTopics } from './published.js';
import { type SlugReservation } from './slug-reservations.js';
import { type SourcesView } from './sources-view.js';

export interface ReconcileDependencies {
  /** Caught up with the log. */
  readonly view: SourcesView;
  readonly handle: HandleCommand;
  readonly topics: SourceTopics;
  readonly vault: Vault;
  readonly clock: Clock;
  /**
   * Operations and reservations begun at or after this (epoch milliseconds) are left alone: they may be running in
   * another process. Absent: all are taken for abandoned, which is right when this process is the only one.
   */
  readonly startedBefore?: number;
}

export interface Reconciled {
  /** Deployments and updates undone. */
  readonly rolledBack: readonly string[];
  /** Deletions brought to their end. */
  readonly deleted: readonly string[];
  /** Slugs released, and with them all that sources which are gone had left. */
  readonly released: readonly string[];
}

/**
 * Ends what a crash interrupted: a deployment or an update is rolled back, a deletion is finished (its owner asked for
 * it), and what no source uses any more is removed. Runs no hooks (decisions.md 2.3, "Process restart"). Call it at
 * start, before new operations are taken; a repeat is harmless.
 */
export const reconcileSources = async (deps: ReconcileDependencies): Promise<Reconciled> => {
  const { view, startedBefore = Infinity } = deps;
  const rolledBack: string[] = [];
  const deleted: string[] = [];
  const released: string[] = [];
  const slugs = new NameSlugs(deps.handle, deps.clock);

  // 1. Operations without an end.
  const ended = new Map<string, SourceState>();
  for (const [sourceId, { workspaceId, state }] of view.states()) {
    const command = endOf(state, startedBefore, deps.clock.now());
    if (!command) continue;
    const context = contextFor(workspaceId, recordOf(state));
    ended.set(sourceId, (await deps.handle(sourceDecider, sourceId, command, context)).state);
    (command.type === 'FinishDeletion' ? deleted : rolledBack).push(sourceId);
  }
  const stateOf = (sourceId: string): SourceState =>
    ended.get(sourceId) ?? view.states().get(sourceId)?.state ?? sourceDecider.initialState();

  // 2. Slugs that nobody uses, and what sources that are gone have left beside the log.
  for (const reservation of view.reservations.all()) {
    const state = stateOf(reservation.sourceId);
    if (isUsed(reservation, state, startedBefore)) continue;
    if (deployedSource(state) === undefined) await removeLeftovers(deps, reservation, state);
    const context = contextFor(reservation.workspaceId, recordOf(state));
    await slugs.release(reservation.slug, reservation.sourceId, context);
    released.push(reservation.slug);
  }

  // 3. Secrets that the last operation of a source left without a use.
  for (const sourceId of view.states().keys()) {
    const state = stateOf(sourceId);
    if (state.status !== 'deployed') continue;
    for (const ref of state.source.unusedSecrets) await deps.vault.delete(ref);
  }
  return { rolledBack, deleted, released };
};

const INTERRUPTED = { reason: 'the server stopped during the operation', observations: [] };

const endOf = (state: SourceState, startedBefore: number, now: number): SourceCommand | undefined => {
  switch (state.status) {
    case 'none':
    case 'gone':
    case 'deployed':
      return undefined;
    case 'deploying':
      return state.since < startedBefore ? { type: 'FailDeployment', ...INTERRUPTED, now } : undefined;
    case 'updating':
      return state.since < startedBefore ? { type: 'FailUpdate', ...INTERRUPTED, now } : undefined;
    case 'deleting':
      return state.since < startedBefore ? { type: 'FinishDeletion', now } : undefined;
  }
};

const isUsed = ({ slug, reservedAt }: SlugReservation, state: SourceState, startedBefore: number): boolean => {
  // Held for a deployment or an update that has not yet written its first event.
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

/** The system acts by itself, for the owner. */
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
