import { dictionary } from '#libs/kernel/dictionary.js';
import { type LaneOrigin } from '#libs/stream-log/lane-origin.js';
import { type StoredState } from './run-journal.js';

/** Done invocations of an executable: all up to `through`, and those in `above`, which are beyond a gap. */
export interface LaneProgress {
  readonly through: number;
  readonly above: readonly number[];
  /** Origin of the newest done invocation. Undefined where the log never assigns an offset twice. */
  readonly origin?: LaneOrigin;
}

/** Done emits of one emitter that one subscription passed on: all up to `through`, and those in `above`. */
export interface EmitProgress {
  /** Sortable event id; `''` for none. */
  readonly through: string;
  readonly above: readonly string[];
}

/** State of every executable: its progress in its lane, and its progress in the emits of others. */
export interface LaneState {
  readonly version: number;
  readonly progress: LaneProgress;
  /** Progress by emitter and subscription. */
  readonly heard: Readonly<Record<string, EmitProgress>>;
  /** Last assigned event id, `''` for none. Ids increase even when the clock is set back. */
  readonly lastEventId: string;
  /** What the executable counts, which only it reads. */
  readonly counts?: string | undefined;
  /** The other parts, whose meaning only the executable knows. */
  readonly own: Readonly<Record<string, string>>;
}

/** Prefix of the parts with the progress of an emitter and subscription. */
const HEARD = 'heard/';

interface Head {
  readonly progress: LaneProgress;
  readonly lastEventId: string;
  readonly counts?: string | undefined;
}

export const headOf = ({ progress, lastEventId, counts }: Head): string =>
  JSON.stringify({ progress, lastEventId, counts });

export const heardParts = (
  heard: Readonly<Record<string, EmitProgress | null>>,
): Readonly<Record<string, string | null>> =>
  Object.fromEntries(
    Object.entries(heard).map(([key, progress]) => [HEARD + key, progress === null ? null : JSON.stringify(progress)]),
  );

export const laneStateOf = ({ version, head, parts }: StoredState): LaneState => {
  const nothing: Head = { progress: { through: -1, above: [] }, lastEventId: '' };
  const heard = dictionary<EmitProgress>();
  const own = dictionary<string>();
  for (const [name, text] of Object.entries(parts)) {
    if (name.startsWith(HEARD)) heard[name.slice(HEARD.length)] = JSON.parse(text) as EmitProgress;
    else own[name] = text;
  }
  return { version, ...(head === '' ? nothing : (JSON.parse(head) as Head)), heard, own };
};
