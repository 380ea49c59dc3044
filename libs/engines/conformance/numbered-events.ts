import { type EventStore } from '#libs/kernel/event-store.js';
import { type NewEvent, type RecordedEvent } from '#libs/kernel/events.js';

export const event = (id: string, n = 0): NewEvent => ({
  id: `00000000-0000-4000-8000-${Buffer.from(id).toString('hex').padStart(12, '0').slice(-12)}`,
  type: 'Counted',
  data: { n, text: 'naïve – 東京', nested: { list: [1, null] } },
  metadata: {
    $correlationId: 'c1',
    $causationId: 'c0',
    commandId: `command-${id}`,
    actor: { userId: 'u_1', apiKeyId: null },
    workspaceId: 'o_1',
    schemaVersion: 1,
  },
});

export const events = (prefix: string, count: number): NewEvent[] =>
  Array.from({ length: count }, (_, n) => event(`${prefix}${n}`, n));

export const numbers = (recorded: readonly RecordedEvent[]): number[] =>
  recorded.map(({ data }) => (data as { n: number }).n);

export const collect = async (stream: AsyncIterable<RecordedEvent>): Promise<RecordedEvent[]> => {
  const all: RecordedEvent[] = [];
  for await (const each of stream) all.push(each);
  return all;
};

/** Appends `count` events one by one, each on the previous revision. */
export const fill = async (store: EventStore, stream: string, count: number): Promise<void> => {
  for (let n = 0; n < count; n++) {
    await store.append(stream, [event(`${stream}${n}`, n)], n === 0 ? 'no_stream' : BigInt(n - 1));
  }
};

/** A writer that adds events faster than a reader reads them. */
export const relentless = (store: () => EventStore, stream: string, each: number) => {
  let next = 0;
  return async (): Promise<void> => {
    const added = Array.from({ length: each }, (_, n) => event(`r${next + n}`, next + n));
    await store().append(stream, added, next === 0 ? 'no_stream' : BigInt(next - 1));
    next += each;
  };
};

/** Ends a reading that the writer keeps from ending. */
const TOO_MANY = 6_000;
export const bounded = (read: number): void => {
  if (read > TOO_MANY) throw new Error(`the reader follows the writer: ${read} events`);
};
