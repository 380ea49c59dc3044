import { eventHistory } from '#libs/kernel/event-history.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { idOf, type NewEvent, type RecordedEvent } from '#libs/kernel/events.js';
import { type Upcasters } from '#libs/kernel/upcasting.js';
import { SourcesView } from '#libs/sources/index.js';
import { type WorkspaceEvent } from '#libs/tenancy/published.js';
import { type WebhookEvent } from '#libs/webhooks/published.js';
import { type WorkflowEvent } from '#libs/workflows/published.js';
import { type ArchivedEvent } from './archive-format.js';

/** Limits of one append, because EventStoreDB accepts 1 MiB. */
const MAX_EVENTS = 200;
const MAX_CHARACTERS = 256 * 1024;

/**
 * Appends the missing events in log order, with their original ids. Rejects without writing when the log contains
 * anything but a prefix of these events.
 */
export const importEvents = async (store: EventStore, lines: AsyncIterable<ArchivedEvent>): Promise<void> => {
  const events = lines[Symbol.asyncIterator]();
  try {
    await passPrefix(store, events);
    let batch: ArchivedEvent[] = [];
    let size = 0;
    for (;;) {
      const event = await nextOf(events);
      const first = batch[0];
      const full = size > MAX_CHARACTERS || batch.length >= MAX_EVENTS;
      if (first && (!event || full || event.stream !== first.stream)) {
        await append(store, first, batch);
        batch = [];
        size = 0;
      }
      if (!event) return;
      batch.push(event);
      size += JSON.stringify(event).length;
    }
  } finally {
    await events.return?.();
  }
};

/** Advances the iterator to the first event that is not in the log. */
const passPrefix = async (store: EventStore, events: AsyncIterator<ArchivedEvent>): Promise<void> => {
  let count = 0;
  for await (const page of eventHistory(store)) {
    for (const there of page) {
      const event = await nextOf(events);
      if (!event || !isSame(event, there)) {
        throw new Error(
          `the event log holds ${there.type} of ${there.stream} at place ${count + 1}, unlike this archive: ` +
            `the target was used since, or is another installation's. Import into an empty one`,
        );
      }
      count++;
    }
  }
};

const nextOf = async (events: AsyncIterator<ArchivedEvent>): Promise<ArchivedEvent | undefined> => {
  const next: IteratorResult<ArchivedEvent, undefined> = await events.next();
  return next.value;
};

const isSame = (event: ArchivedEvent, there: RecordedEvent): boolean =>
  event.id === there.id && event.stream === there.stream && BigInt(event.revision) === there.revision;

const append = async (store: EventStore, first: ArchivedEvent, batch: readonly ArchivedEvent[]): Promise<void> => {
  const events = batch.map(({ id, type, data, metadata, recordedAt }): NewEvent => {
    return { id, type, data, metadata: { ...metadata, $recordedAt: recordedAt } };
  });
  await store.append(first.stream, events, first.revision === 0 ? 'no_stream' : BigInt(first.revision) - 1n);
};

/** Reads from the event log the existing sources, workflows, webhooks and workspaces, which own topics. */
export const ownersIn = async (store: EventStore, upcasters: Upcasters): Promise<ReadonlySet<string>> => {
  const sources = new SourcesView();
  const others = new Set<string>();
  for await (const page of eventHistory(store)) {
    for (const recorded of page) {
      const event = upcasters.upcast(recorded);
      sources.apply(event);
      if (CREATED.has(event.type)) others.add(idOf(event.stream));
      else if (DELETED.has(event.type)) others.delete(idOf(event.stream));
    }
  }
  return new Set([...sources.all().keys(), ...others]);
};

type Owning = WebhookEvent | WorkflowEvent | WorkspaceEvent;
const CREATED: ReadonlySet<string> = new Set<Owning['type']>(['WebhookCreated', 'WorkflowCreated', 'WorkspaceCreated']);
const DELETED: ReadonlySet<string> = new Set<Owning['type']>(['WebhookDeleted', 'WorkflowDeleted', 'WorkspaceDeleted']);
