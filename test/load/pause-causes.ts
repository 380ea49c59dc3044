/** A stretch in which a thread did not come back to its event loop. Times are ms, `at` of the machine's monotonic clock. */
export interface Gap {
  readonly at: number;
  readonly ms: number;
  /** Time in which the thread ran. */
  readonly ran: number;
  /** Time in which it could have run, but no core was free. */
  readonly ready: number;
}

export interface Collection {
  readonly at: number;
  readonly ms: number;
  readonly kind: string;
}

/** What one thread noted (pause-probe.ts). */
export interface ThreadNotes {
  readonly thread: string;
  readonly gaps: readonly Gap[];
  readonly collections: readonly Collection[];
  /** The function that ran at each moment, when a profile was taken. */
  readonly samples: readonly { readonly at: number; readonly name: string }[];
}

/** `blocked` is a thread that waited within a call: for the disk, or for another thread. */
export type Cause = 'garbage' | 'blocked' | 'no free core' | 'code';

export interface Pause {
  readonly at: number;
  readonly ms: number;
  readonly thread: string;
  readonly cause: Cause;
  /** Kind of a collection, or the functions in which the thread was most of the time. */
  readonly detail: string;
}

/** Each gap with the cause of its largest part. */
export const pausesOf = ({ thread, gaps, collections, samples }: ThreadNotes): Pause[] =>
  gaps.map((gap) => {
    const { at, ms } = gap;
    const collected = collections
      .map(({ kind, ...span }) => ({ kind, ms: shared(gap, span) }))
      .filter((part) => part.ms > 0)
      .sort((a, b) => b.ms - a.ms);
    const garbage = collected.reduce((sum, part) => sum + part.ms, 0);
    const inCalls = functionsIn(gap, samples);
    const others: [Cause, number, string][] = [
      ['blocked', ms - gap.ran - gap.ready, inCalls],
      ['no free core', gap.ready, ''],
      ['code', gap.ran - garbage, inCalls],
    ];
    const first: [Cause, number, string] = ['garbage', garbage, collected[0]?.kind ?? ''];
    const [cause, , detail] = others.reduce((most, part) => (part[1] > most[1] ? part : most), first);
    return { at, ms, thread, cause, detail };
  });

/** Milliseconds that two spans have in common. */
const shared = (a: { readonly at: number; readonly ms: number }, b: { readonly at: number; readonly ms: number }) =>
  Math.max(0, Math.min(a.at + a.ms, b.at + b.ms) - Math.max(a.at, b.at));

const functionsIn = (gap: Gap, samples: ThreadNotes['samples']): string => {
  const counts = new Map<string, number>();
  for (const { at, name } of samples)
    if (at >= gap.at && at < gap.at + gap.ms) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 3)
    .map(([name]) => name)
    .join(', ');
};
