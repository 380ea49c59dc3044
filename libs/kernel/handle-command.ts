import { fold, type Decider } from './decider.js';
import { DomainError } from './domain-error.js';
import { RevisionConflict, type EventStore, type ExpectedRevision } from './event-store.js';
import { streamName, type Actor, type DomainEvent, type NewEvent, type Position } from './events.js';
import { eventIdOf } from './ids.js';
import { KeptStates } from './kept-states.js';
import { type Upcasters } from './upcasting.js';

/** Actor, workspace and cause of a command. Travels beside the command, never inside it. */
export interface CommandContext {
  readonly commandId: string;
  readonly correlationId: string;
  readonly causationId: string;
  readonly actor: Actor;
  readonly workspaceId: string;
  readonly traceparent?: string;
  /** Set by a caller that changes only what it has read. Absent: any revision will do. */
  readonly precondition?: Precondition;
}

/** Revisions that the resource of a command may have when its first change is decided. */
export interface Precondition {
  /**
   * Category of the resource's stream. The precondition does not concern the streams of names that a command also
   * changes.
   */
  readonly categories: readonly string[];
  readonly revisions: readonly number[];
  /** True once it was checked, because a command of several steps raises the revision itself. */
  held: boolean;
}

/** Result of a command, without changes that other commands made since. */
export interface CommandResult<S> {
  readonly state: S;
  readonly events: readonly DomainEvent[];
  /** Position of the last event that the command wrote; undefined for a no-op. */
  readonly position?: Position;
  /** Number of the last event that is folded into `state`. */
  readonly revision: ExpectedRevision;
}

export interface CommandHandlerOptions {
  readonly store: EventStore;
  readonly upcasters: Upcasters;
  /** Number of times that a command is decided when it meets conflicts. */
  readonly maxAttempts?: number;
}

export type HandleCommand = <C, E extends DomainEvent, S>(
  decider: Decider<C, E, S>,
  id: string,
  command: C,
  context: CommandContext,
) => Promise<CommandResult<S>>;

/** Makes the only function through which commands change aggregates. */
export const commandHandler = ({ store, upcasters, maxAttempts = 4 }: CommandHandlerOptions): HandleCommand => {
  const kept = new KeptStates();
  return async <C, E extends DomainEvent, S>(
    decider: Decider<C, E, S>,
    id: string,
    command: C,
    context: CommandContext,
  ): Promise<CommandResult<S>> => {
    const stream = streamName(decider.category, id);
    for (let attempt = 1; ; attempt++) {
      // 1. Load the stream and fold it into the state. Answer a repeat of a completed command from it.
      const { state, revision, repeat } = await load(store, upcasters, decider, stream, {
        commandId: context.commandId,
        kept,
      });
      if (repeat) return { ...repeat, events: [] };

      // 2. Decide, purely, if the resource still has a revision that the caller accepts.
      const { precondition } = context;
      const isBound = precondition?.held === false && precondition.categories.includes(decider.category);
      if (isBound) mustHold(precondition, id, revision);
      const events = decider.decide(command, state);
      if (events.length === 0) return { state, events, revision };
      // 3. Append with the revision that was read.
      try {
        const appended = await store.append(stream, toNewEvents(stream, events, context, upcasters), revision);
        if (isBound) precondition.held = true;
        // 4. Answer with the state after the events.
        const next = fold(decider, events, state);
        kept.set(decider, stream, { state: next, revision: appended.revision }, events.length);
        return { state: next, events, position: appended.position, revision: appended.revision };
      } catch (error) {
        // 5. After a conflict, decide again on the new state.
        if (!(error instanceof RevisionConflict) || attempt >= maxAttempts) throw error;
      }
    }
  };
};

const mustHold = ({ revisions }: Precondition, id: string, revision: ExpectedRevision): void => {
  // A resource that does not exist is refused by its decider.
  if (typeof revision !== 'bigint' || revisions.includes(Number(revision))) return;
  throw new DomainError(
    'request.precondition_failed',
    `${id} has revision ${revision}, and If-Match accepts ${revisions.join(', ') || 'none of this server'}: ` +
      'someone changed it meanwhile; read it again and decide anew',
    { id, actual: Number(revision), expected: revisions },
  );
};

interface LoadOptions {
  /** Makes the result contain what this command wrote in an earlier attempt. */
  readonly commandId?: string;
  readonly kept?: KeptStates;
}

type Left<S> = Required<Pick<CommandResult<S>, 'state' | 'revision' | 'position'>>;

/** Loads the current state of an aggregate, with its revision. */
export const load = async <C, E extends DomainEvent, S>(
  store: EventStore,
  upcasters: Upcasters,
  decider: Decider<C, E, S>,
  stream: string,
  { commandId, kept }: LoadOptions = {},
): Promise<{ state: S; revision: ExpectedRevision; repeat?: Left<S> }> => {
  const known = kept?.get<S>(stream);
  let revision: bigint | undefined = known?.revision;
  let last: { readonly count: number; readonly revision: bigint; readonly position: Position } | undefined;
  const events: E[] = [];
  for await (const recorded of store.read(stream, known && { from: known.revision + 1n })) {
    revision = recorded.revision;
    const { type, data } = upcasters.upcast(recorded);
    const count = events.push({ type, data } as E);
    if (commandId !== undefined && recorded.metadata.commandId === commandId)
      last = { count, revision: recorded.revision, position: recorded.position };
  }
  const before = known ? known.state : decider.initialState();
  const state = fold(decider, events, before);
  if (revision === undefined) return { state, revision: 'no_stream' };
  kept?.set(decider, stream, { state, revision }, events.length);
  if (last === undefined) return { state, revision };
  const left = fold(decider, events.slice(0, last.count), before);
  return { state, revision, repeat: { state: left, revision: last.revision, position: last.position } };
};

const toNewEvents = (
  stream: string,
  events: readonly DomainEvent[],
  context: CommandContext,
  upcasters: Upcasters,
): NewEvent[] =>
  events.map(({ type, data }, index) => ({
    id: eventIdOf(context.commandId, stream, index),
    type,
    data,
    metadata: {
      $correlationId: context.correlationId,
      $causationId: context.causationId,
      commandId: context.commandId,
      actor: context.actor,
      workspaceId: context.workspaceId,
      schemaVersion: upcasters.currentVersion(type),
      ...(context.traceparent === undefined ? {} : { traceparent: context.traceparent }),
    },
  }));
