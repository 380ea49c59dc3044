import { isMissing } from '../failure.js';
import { fieldText } from '../json.js';
import { endNamed } from '../names.js';
import { readList } from '../pages.js';
import { type Session, withQuery } from '../session.js';
import { type Source } from '../sources.js';

/** A subscription of a session. */
export interface Subscribed {
  readonly emitterId: string;
  /** Whether it was there before. */
  readonly isFormer: boolean;
  /** Rejects with CommandFailure. */
  end(): Promise<void>;
}

/** Subscribes a source to what another one emits. Rejects with CommandFailure. */
export const subscribedTo = async (
  session: Session,
  listener: Source,
  emitter: string,
  channel: string,
): Promise<Subscribed> => {
  const emitterId = await endNamed(session, emitter);
  const triple = { emitter_id: emitterId, listener_id: listener.id, event_name: channel };
  const path = `/v1/workspaces/${fieldText(listener.fields, 'owner_id')}/subscriptions`;
  const { items } = await readList(session, path, { all: true });
  const isFormer = items.some((each) => Object.entries(triple).every(([key, value]) => fieldText(each, key) === value));
  await session.request({ method: 'POST', path: '/v1/subscriptions', body: triple });
  const end = async (): Promise<void> => {
    try {
      await session.request({ method: 'DELETE', path: withQuery('/v1/subscriptions', triple) });
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  };
  return { emitterId, isFormer, end };
};
