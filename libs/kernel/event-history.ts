import { type EventStore } from './event-store.js';
import { START, type RecordedEvent } from './events.js';

const PAGE = 1_000;

/**
 * Yields the events in the log at the call, in log order and in pages. It ends at the last of them, even while other
 * writers append without a pause.
 */
export async function* eventHistory(
  store: Pick<EventStore, 'lastPosition' | 'readAll'>,
  pageSize = PAGE,
): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
  const end = await store.lastPosition();
  for (let after = START; after < end;) {
    const page = await store.readAll(after, pageSize);
    const last = page.at(-1);
    if (!last) return;
    yield last.position <= end ? page : page.filter(({ position }) => position <= end);
    after = last.position;
  }
}
