import { derivedId } from '#libs/kernel/ids.js';
import { emitIds } from '#libs/stream-log/emit-ids.js';
import { type DeliveryHeaders, type EmailHeaders, type EmitHeaders, MAX_HOPS } from '#libs/stream-log/envelopes.js';
import { ROUTER_SEQUENCE } from '#libs/stream-log/event-ids.js';
import { emitInvocation } from '#libs/stream-log/invocations.js';
import { ERRORS_CHANNEL } from '#libs/component-model/channels.js';
import { faultId } from '#libs/stream-log/fault-ids.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { Examination } from './event-filter.js';
import { EMAIL_LISTENER, type Match, type SubscriptionTable } from './subscription-table.js';

export interface Emit {
  readonly headers: EmitHeaders;
  readonly value: string;
}

export interface Routed {
  readonly records: readonly LogRecord[];
  readonly hopLimited: boolean;
  /** Sources and workflows that did not get the emit, because they are in a loop that grows without bound. */
  readonly givenUp: readonly string[];
  /** A source or workflow without room. Until it has room, no listener may get the emit. */
  readonly heldFor?: string;
  /** Filters remain to be examined, and nothing is routed yet. Ask again with the same examination, in a later turn. */
  readonly isUnexamined?: true;
}

/** Whether a source or workflow has room for one more invocation now. */
export type RoomOf = (listenerId: string) => 'room' | 'wait' | 'give up';

const NOTHING: Routed = { records: [], hopLimited: false, givenUp: [] };

/**
 * Turns one emit into records. Pure: ids are a function of emit and subscription, so routing an emit again makes
 * records with the same ids. Passes the value on as text, and parses it only for a filter.
 *
 * At MAX_HOPS it passes nothing on, and the emitter gets a `$errors` event instead. An error event at the limit goes
 * only to webhooks and emails, where no hop follows. So a loop is reported, and its errors cannot continue it.
 */
export const routeEmit = (
  emit: Emit,
  table: SubscriptionTable,
  topics: TopicPolicy,
  now: number,
  roomOf: RoomOf = () => 'room',
  examination = new Examination(emit.value),
): Routed => {
  const { headers } = emit;
  if (headers.notrigger === '1') return NOTHING;
  const matched = table.match(headers.emitter, headers.workspace, headers.channel);
  // A platform event about a listener does not go to that listener, because it might cause the next such event.
  const others = matched.filter(({ listenerId }) => listenerId !== headers.subject);
  const matches: Match[] = [];
  for (const match of others) {
    const passes = examination.passes(match.filter);
    if (passes === undefined) return { ...NOTHING, isUnexamined: true };
    if (passes) matches.push(match);
  }
  // Whether its author wants the mail, and who that is, is for the mail worker to know.
  const mails = headers.emitter.startsWith('p_') && headers.channel === ERRORS_CHANNEL ? emailOf(emit, topics) : [];
  if (matches.length === 0) return mails.length === 0 ? NOTHING : { ...NOTHING, records: mails };

  const atLimit = Number(headers.hops) >= MAX_HOPS;
  if (atLimit && headers.channel !== ERRORS_CHANNEL) {
    return { ...NOTHING, records: [hopLimitError(emit, topics)], hopLimited: true };
  }
  const records: LogRecord[] = [...mails];
  const givenUp: string[] = [];
  for (const match of matches) {
    if (match.listenerId.startsWith('wh_')) records.push(deliveryOf(emit, match, topics, now));
    else if (match.listenerId === EMAIL_LISTENER) records.push(...emailOf(emit, topics));
    else if (atLimit) continue;
    else {
      const room = roomOf(match.listenerId);
      if (room === 'wait') return { ...NOTHING, heldFor: match.listenerId };
      if (room === 'give up') givenUp.push(match.listenerId);
      else {
        const { listenerId, subscriptionId, trigger } = match;
        records.push(emitInvocation(topics, emit, { sourceId: listenerId, subscriptionId, trigger }));
      }
    }
  }
  return { records, hopLimited: atLimit, givenUp };
};

/** Makes the delivery of an emit to the webhook of a subscription. A repeat has the same id. */
export const deliveryOf = (
  emit: Emit,
  match: Pick<Match, 'listenerId' | 'subscriptionId'>,
  topics: TopicPolicy,
  now: number,
  replay?: string,
): LogRecord => {
  const { emitter, channel, workspace, id } = emit.headers;
  const headers: DeliveryHeaders = {
    id: derivedId('dlv', emitter, emit.headers.emit, match.subscriptionId),
    webhook: match.listenerId,
    workspace,
    emitter,
    channel,
    emit: emit.headers.emit,
    event: id,
    attempt: '1',
    at: String(now),
    ...(replay === undefined ? {} : { replay }),
  };
  return { topic: topics.deliveries(match.listenerId), key: match.listenerId, headers, value: emit.value };
};

/** The author of a sample event sees its error at once, so no email reports it. */
const emailOf = ({ headers, value }: Emit, topics: TopicPolicy): readonly LogRecord[] => {
  const topic = topics.emails();
  if (topic === undefined || headers.test === '1') return [];
  const { emitter, workspace, emit, id, fault = emit } = headers;
  const email: EmailHeaders = { email: '1', emitter, workspace, emit, event: id, fault };
  return [{ topic, key: emitter, headers: email, value }];
};

const hopLimitError = (emit: Emit, topics: TopicPolicy): LogRecord => {
  const { emitter, id, channel, hops } = emit.headers;
  return routingError(emit, topics, {
    code: 'HopLimitExceeded',
    message:
      `event ${id} on channel "${channel}" of ${emitter} has passed ${hops} listeners, the limit is ${MAX_HOPS}: ` +
      'it was not passed on. Remove the subscription that closes the loop.',
  });
};

/** Tells the emitter that a listener did not get its event, because their loop grows without bound. */
export const loopOverflowError = (emit: Emit, listenerId: string, limit: number, topics: TopicPolicy): LogRecord => {
  const { emitter, id, channel } = emit.headers;
  return routingError(emit, topics, {
    code: 'LoopOverflow',
    message:
      `event ${id} on channel "${channel}" of ${emitter} was not passed on to ${listenerId}: they are in a loop that ` +
      `grows, and more than ${limit} events of ${emitter} wait. Remove the subscription that closes the loop, or emit less.`,
  });
};

/** Creates a source error like that of a run. It is at MAX_HOPS, so only webhooks receive it. */
const routingError = (
  emit: Emit,
  topics: TopicPolicy,
  { code, message }: { readonly code: string; readonly message: string },
): LogRecord => {
  const { emitter, workspace, id, hops, nostore } = emit.headers;
  const [ms = '0', seq = '0'] = id.split('-');
  const ts = new Date(Number(ms)).toISOString();
  const context = { id: emit.headers.emit, ts, source_id: emitter, owner_id: workspace, hops: Number(hops) };
  const error = { code, name: code, message, ts, stack: '' };
  const headers: EmitHeaders = {
    kind: 'emit',
    id: `${ms}-${ROUTER_SEQUENCE + Number(seq)}`,
    emitter,
    workspace,
    channel: ERRORS_CHANNEL,
    emit: emitIds(`${code === 'HopLimitExceeded' ? 'hop-limit' : 'loop'}/${emit.headers.emit}`, Number(ms))(0),
    hops: String(MAX_HOPS),
    fault: faultId(code, ''),
    ...(nostore === undefined ? {} : { nostore }),
  };
  const value = `{"original_event":${emit.value},"original_context":${JSON.stringify(context)},"error":${JSON.stringify(error)}}`;
  return { topic: topics.emits(emitter), key: emitter, headers, value };
};
