import { DELAYED_CHANNEL } from '#libs/component-model/channels.js';
import { type DueEntry } from '#libs/due/due-store.js';
import { type DelayedEvent, type DelayedKey, delayedSort } from '#libs/stream-log/delayed-events.js';
import { type DueHeaders, emitterHeaders } from '#libs/stream-log/envelopes.js';

/**
 * The alarm of an event that waits. Its record tells the router, in the lane of the source, that the event is due. The
 * router then publishes the event, unless the lane cancelled it before, and removes the alarm.
 */
export const delayedAlarm = (event: DelayedEvent): DueEntry => {
  const { sourceId, workspaceId, eventId, emitId, dueAt } = event;
  const headers: DueHeaders = {
    kind: 'due',
    id: `${dueAt}-0`,
    emitter: sourceId,
    workspace: workspaceId,
    channel: DELAYED_CHANNEL,
    emit: emitId,
    hops: '0',
    event: eventId,
  };
  const record = { key: sourceId, headers, value: 'null' };
  return { id: delayedAlarmId(sourceId, delayedSort(eventId)), owner: sourceId, kind: 'delayed', dueAt, record };
};

/** Alarms of a source that are due at once are published in the order of its events. */
export const delayedAlarmId = (sourceId: string, sort: string): string => `delayed/${sourceId}/${sort}`;

/** Returns the delayed events whose alarms are among the entries. */
export const delayedIn = (entries: readonly DueEntry[]): readonly DelayedKey[] =>
  entries.flatMap(({ kind, record }) => {
    if (kind !== 'delayed') return [];
    const headers = emitterHeaders(record);
    return headers.kind === 'due' ? [{ sourceId: headers.emitter, eventId: headers.event }] : [];
  });
