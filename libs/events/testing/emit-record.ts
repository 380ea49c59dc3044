import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';

export const topics = perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 });

/** Time from which the event ids of specs count, in epoch milliseconds. */
export const T0 = 1_700_000_000_000;

/** Event id of the n-th emit. */
export const id = (n: number): string => `${T0 + n}-0`;

interface EmitOptions {
  readonly channel?: string;
  readonly emitter?: string;
  readonly headers?: Record<string, string>;
}

/** Record of the n-th emit, as the runner publishes it. */
export const emit = (
  n: number,
  payload: unknown,
  { channel = '', emitter = 'dc_a', headers = {} }: EmitOptions = {},
): LogRecord => ({
  topic: topics.emits(emitter),
  key: emitter,
  headers: {
    kind: 'emit',
    id: id(n),
    emitter,
    workspace: 'o_1',
    channel,
    emit: `emit-${n}`,
    hops: '0',
    ...headers,
  },
  value: JSON.stringify(payload),
});
