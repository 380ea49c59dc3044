import { type Decider } from './decider.js';
import { type DomainEvent } from './events.js';

/** The state of a stream after the event `revision`. */
export interface KeptState<S> {
  readonly state: S;
  readonly revision: bigint;
}

interface Kept extends KeptState<unknown> {
  readonly size: number;
  /** Events that were folded into the state since it was made small. */
  readonly since: number;
}

/** Streams with fewer events are read so quickly that keeping their state does not pay. */
const LONG = 64;
/** Events after which a state is made small again. */
const COMPACT_AFTER = 1_000;
/** Parts of all kept states, of about 300 bytes each. */
const MAX_SIZE = 50_000;

/**
 * States of long streams in memory, so that a command reads only later events. A stream only grows, so a kept state may
 * be old but is never wrong. The least recently used states are dropped first.
 */
export class KeptStates {
  /** States by stream, the most recently used last. */
  private readonly states = new Map<string, Kept>();
  private size = 0;

  constructor(private readonly maxSize = MAX_SIZE) {}

  get<S>(stream: string): KeptState<S> | undefined {
    const kept = this.states.get(stream);
    if (!kept) return undefined;
    this.states.delete(stream);
    this.states.set(stream, kept);
    return kept as KeptState<unknown> as KeptState<S>;
  }

  /** Notes the state after `read` further events; `revision` is that of the last one. */
  set<C, E extends DomainEvent, S>(
    { compact }: Decider<C, E, S>,
    stream: string,
    { state, revision }: KeptState<S>,
    read: number,
  ): void {
    if (!compact) return;
    const former = this.states.get(stream);
    const since = (former?.since ?? 0) + read;
    const isNew = former ? revision > former.revision : since >= LONG;
    if (!isNew) return;
    this.remove(stream);
    const isSmall = former !== undefined && since < COMPACT_AFTER;
    const small = isSmall ? { state, size: former.size + read } : compact(state);
    if (small.size > this.maxSize) return;
    this.states.set(stream, { ...small, revision, since: isSmall ? since : 0 });
    this.size += small.size;
    for (const oldest of this.states.keys()) {
      if (this.size <= this.maxSize) break;
      this.remove(oldest);
    }
  }

  private remove(stream: string): void {
    this.size -= this.states.get(stream)?.size ?? 0;
    this.states.delete(stream);
  }
}
