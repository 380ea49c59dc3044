import { runIdOf } from '#libs/stream-log/invocations.js';
import { type InputOf } from '#libs/workflow-runs/run-inputs.js';
import { type RunReplay } from '#libs/workflow-runs/replay-start.js';
import { type Arriving, timeOf } from '../invocation.js';

export { type RunReplay } from '#libs/workflow-runs/replay-start.js';

/**
 * What begins a replay is in its invocation, so that the replayed run may be removed meanwhile (docs/adr/0073). The value
 * is a JSON list of the event, of three texts for each reused step (outcome, exports and data of a resume), and of the
 * outcomes of kept items. The lengths stand in the header, so that nothing parses and writes up to 6 MB.
 */
interface ReplaysHeader {
  readonly origin: RunReplay['origin'];
  readonly namespaces: readonly string[];
  /** Absent without kept items. */
  readonly kept?: { readonly namespace: string; readonly indexes: readonly number[] };
  /** UTF-16 units of each text of the value. Null for a text that is missing, which is `null` in the value. */
  readonly lengths: readonly (number | null)[];
}

const MISSING = 'null';

/** The header and the event of an invocation that begins a replay. */
export const replayRecord = ({
  origin,
  event,
  reused,
  kept,
}: RunReplay): { readonly replays: string; readonly event: string } => {
  const ofSteps = reused.flatMap(({ step, exports, resumeData }) => [step, exports, resumeData]);
  const texts = [event, ...ofSteps, ...(kept?.items ?? []).map(({ outcome }) => outcome)];
  const header: ReplaysHeader = {
    origin,
    namespaces: reused.map(({ namespace }) => namespace),
    ...(kept ? { kept: { namespace: kept.namespace, indexes: kept.items.map(({ index }) => index) } } : {}),
    lengths: texts.map((text) => text?.length ?? null),
  };
  return { replays: JSON.stringify(header), event: `[${texts.map((text) => text ?? MISSING).join()}]` };
};

/** The arrival of a replay. Its id and time are those of the invocation. */
export const replayArrival = (invocation: Arriving, replays: string, now: number): InputOf<'arrive'> => {
  const { id } = invocation.headers;
  const { value, offset } = invocation.record;
  const { origin, namespaces, kept, lengths } = JSON.parse(replays) as ReplaysHeader;
  const run = runIdOf(id);
  let end = 0;
  const [event, ...texts] = lengths.map((length) => {
    const start = end + 1;
    end = start + (length ?? MISSING.length);
    return length === null ? null : value.slice(start, end);
  });
  const outcomes = texts.slice(3 * namespaces.length);
  return {
    type: 'arrive',
    now,
    place: origin.test ? null : offset,
    event: event ?? MISSING,
    reused: namespaces.map((namespace, index) => {
      const [step, exports = null, resumeData = null] = texts.slice(3 * index);
      return { namespace, step: step ?? MISSING, exports, resumeData };
    }),
    ...(kept
      ? {
          kept: {
            namespace: kept.namespace,
            items: kept.indexes.map((index, at) => ({ index, outcome: outcomes[at] ?? MISSING })),
          },
        }
      : {}),
    notrigger: false,
    origin: { ...origin, id: run, keyRun: origin.keyRun ?? run, arrivedAt: timeOf(invocation) },
  };
};
