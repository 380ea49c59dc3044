import { dictionary } from '#libs/kernel/dictionary.js';
import { type InvocationHeaders } from '#libs/stream-log/envelopes.js';
import { orderedEventId } from '#libs/stream-log/event-ids.js';
import { type EmitProgress } from './lane-state.js';

/** Most pairs of emitter and subscription with progress in a source. Then the longest unheard is forgotten. */
export const HEARD_LIMIT = 2_000;

/** Place of an invocation among all that one subscription passes on from one emitter. */
export interface HeardPlace {
  /** Emitter and subscription. */
  readonly key: string;
  /** Sortable event id of the emit. */
  readonly position: string;
}

/** Undefined for an invocation without such a place, such as a tick or a replay. */
export const heardPlaceOf = ({ kind, emitter, subscription, event }: InvocationHeaders): HeardPlace | undefined => {
  if (kind !== 'emit' || emitter === undefined || subscription === undefined || event === undefined) return undefined;
  const position = orderedEventId(event);
  return position === undefined ? undefined : { key: `${emitter}/${subscription}`, position };
};

interface Heard {
  through: string;
  /** Done positions beyond a gap. */
  readonly above: Set<string>;
  /** Positions in flight, in order. */
  readonly out: string[];
}

/**
 * The emits of other sources that a source has run, however many. Those of one emitter and subscription arrive in the
 * order of their event ids: the emitter's lane, the router and the source's lane keep this order, and a crash repeats a
 * suffix of it (docs/adr/0002). So no earlier emit can arrive for the first time after a later one. An emit in flight
 * does not count as progress, because it is redelivered after a crash and must then run.
 */
export class HeardEmits {
  /** Ordered from the longest unheard. */
  private readonly byKey = new Map<string, Heard>();

  constructor(stored: Readonly<Record<string, EmitProgress>>) {
    const oldestFirst = Object.entries(stored).sort(([, a], [, b]) => (a.through < b.through ? -1 : 1));
    for (const [key, { through, above }] of oldestFirst) {
      this.byKey.set(key, { through, above: new Set(above), out: [] });
    }
  }

  isDone({ key, position }: HeardPlace): boolean {
    const heard = this.byKey.get(key);
    return heard !== undefined && (position <= heard.through || heard.above.has(position));
  }

  /** Adds an invocation that is not done and will be finished. */
  admit({ key, position }: HeardPlace): void {
    const { out } = this.of(key);
    // Nearly always at the end. Only repeats after a crash come before positions that are done beyond them.
    const at = out.findLastIndex((other) => other <= position);
    if (out[at] !== position) out.splice(at + 1, 0, position);
  }

  /**
   * Returns the changes to store once these are done too. Null means forgotten, because there are too many. Nothing
   * counts as done before `stored`.
   */
  changesAfter(places: readonly HeardPlace[]): Readonly<Record<string, EmitProgress | null>> {
    const done = new HeardEmits({});
    for (const { key } of places) {
      const heard = this.byKey.get(key);
      if (heard && !done.byKey.has(key))
        done.byKey.set(key, { through: heard.through, above: new Set(heard.above), out: [...heard.out] });
    }
    for (const place of places) done.finish(place);
    const changed = dictionary<EmitProgress | null>();
    for (const [key, { through, above }] of done.byKey) changed[key] = { through, above: [...above].sort() };
    let beyond = this.byKey.size - HEARD_LIMIT;
    for (const [key, { out }] of this.byKey) {
      if (beyond <= 0) break;
      if (out.length > 0 || key in changed) continue;
      changed[key] = null;
      beyond--;
    }
    return changed;
  }

  /** Counts these as done, after a commit has stored the changes. */
  stored(places: readonly HeardPlace[], changes: Readonly<Record<string, EmitProgress | null>>): void {
    for (const place of places) this.finish(place);
    for (const [key, progress] of Object.entries(changes)) {
      const heard = this.byKey.get(key);
      if (!heard) continue;
      this.byKey.delete(key);
      // Keeps a forgotten one with invocations that arrived in the meantime.
      if (progress !== null || heard.out.length > 0) this.byKey.set(key, heard);
    }
  }

  /** Idempotent. */
  private finish({ key, position }: HeardPlace): void {
    const heard = this.of(key);
    const { out, above } = heard;
    const at = out.indexOf(position);
    if (at >= 0) out.splice(at, 1);
    if (position > heard.through) above.add(position);
    if (at <= 0) advance(heard);
  }

  private of(key: string): Heard {
    let heard = this.byKey.get(key);
    if (!heard) this.byKey.set(key, (heard = { through: '', above: new Set(), out: [] }));
    return heard;
  }
}

/** Advances `through` up to the first position in flight. */
const advance = (heard: Heard): void => {
  const [front] = heard.out;
  for (const position of heard.above) {
    if (front !== undefined && position > front) continue;
    heard.above.delete(position);
    if (position > heard.through) heard.through = position;
  }
};
